"""Label Studio: the only code that knows its API.

Measured with 1.23.2 (open source, SQLite). Three ways of it shape this module:

* `include=` names the fields of a listing, and is honoured; without it each row holds the whole task, html and all.
* A listing is read by "id greater than the last one seen", not by page number: page numbers skip a task when one is
  deleted meanwhile, and a page past the end is a 404. Each answer says how many are left, which is compared.
* A filter on a field of the task's data costs 5 s per hundred values on 10,000 tasks, "id greater than" 0.1 s; so what
  a batch has left on the server is looked up among the tasks that are newer than it, and compared here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import msgspec

from potato_bridge.errors import RemoteError
from potato_bridge.remotes.base import RemoteProject, RemoteUser, UnansweredError
from potato_bridge.remotes.failures import LOOKS_FIRST
from potato_bridge.remotes.http import Http, to_json

TITLE_LENGTH = (3, 50)
#: The server's limit of one request is 250 MB; a proxy's is often lower, which is an error of its own.
MAX_BODY = 200 * 1024 * 1024
_IMPORT_SECONDS = 300.0
_PAGE = 1000
_PROJECT_PAGE = 100
#: Ids of one export: they stand in the address, which proxies cut at 8,000 characters. The number adapts, so that an
#: answer has about this size.
_EXPORT_IDS = 300
_EXPORT_FIRST = 50
_EXPORT_BYTES = 16 * 1024 * 1024

Filter = Mapping[str, Any]


def where(field: str, operator: str, value: Any, kind: str) -> Filter:
    """One condition of a listing: `where("id", "greater", 7, "Number")`."""
    return {"filter": f"filter:tasks:{field}", "operator": operator, "type": kind, "value": value}


class LabelStudio:
    """One Label Studio server, as one account.

    Args:
        url: The server's address; a path in front of the API is fine.
        api_key: Legacy or personal access token. It is never shown.
        transport: What carries the requests; the network if None.

    Raises:
        UsageError: The address is none.
        AuthError: The token cannot be one.

    Example:
        >>> with LabelStudio("http://localhost:8080", key) as server:  # doctest: +SKIP
        ...     print(server.version(), server.whoami().email)
    """

    def __init__(self, url: str, api_key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self._http = Http(url, api_key, transport=transport)
        self.url = self._http.url

    def __repr__(self) -> str:
        """Without the token."""
        return f"LabelStudio({self.url!r})"

    def __enter__(self) -> "LabelStudio":
        """Nothing is sent yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the connections."""
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def version(self) -> str:
        """The server's version, such as "1.23.2".

        Raises:
            RemoteError: Not reachable, or no Label Studio.
        """
        value, _ = self._http.read("/api/version")
        if isinstance(value, dict):
            # The open-source package has an entry of its own; Enterprise has only the release.
            package = value.get("label-studio-os-package")
            found = package.get("version") if isinstance(package, dict) else value.get("release")
            if isinstance(found, str):
                return found
        raise RemoteError(f"{self.url} does not say which version of Label Studio it is", hint="Is it Label Studio?")

    def whoami(self) -> RemoteUser:
        """The account that the token belongs to."""
        value = self._object("/api/current-user/whoami")
        return RemoteUser(int(value["id"]), str(value.get("email") or ""))

    def users(self, project_id: int) -> dict[int, str]:
        """E-mail addresses by user id: the organization's members, and whoever has answered in the project."""
        found: dict[int, str] = {}
        # The second list keeps those who have left; a server may lack it, or refuse the first to mere annotators.
        for path in ("/api/users/", f"/api/projects/{project_id}/annotators/"):
            try:
                value, _ = self._http.read(path, missing_ok=True)
            except RemoteError:
                if path != "/api/users/":
                    raise
                continue
            for user in value if isinstance(value, list) else []:
                found[int(user["id"])] = str(user.get("email") or "")
        return found

    def projects(self) -> Iterator[RemoteProject]:
        """All projects that the account sees; titles and descriptions only.

        Raises:
            RemoteError: Fewer came than the server counts.
        """
        seen: set[int] = set()
        page = 1
        while True:
            params = {"include": "id,title,description", "ordering": "id", "page_size": _PROJECT_PAGE, "page": page}
            value = self._object("/api/projects/", params)
            rows = value.get("results")
            if not isinstance(rows, list):
                raise RemoteError(f"{self.url} lists projects in a way that this version does not know")
            for row in rows:
                if row["id"] not in seen:
                    seen.add(row["id"])
                    yield _project(row)
            if not value.get("next"):
                break
            page += 1
        if len(seen) < int(value.get("count", 0)):
            raise RemoteError(
                f"{self.url} counts {value['count']} projects and lists {len(seen)}",
                hint="Projects were made or deleted meanwhile? Try again.",
            )

    def project(self, project_id: int) -> RemoteProject | None:
        """One project with its counts; None where there is no such project."""
        value, _ = self._http.read(f"/api/projects/{project_id}/", missing_ok=True)
        return _project(value) if isinstance(value, dict) else None

    def answered_controls(self, project_id: int) -> dict[str, int]:
        """Control → how many answers, skips among them, have a result of it."""
        counted = self._object(f"/api/projects/{project_id}/summary/").get("created_annotations")
        found: dict[str, int] = {}
        for key, count in counted.items() if isinstance(counted, dict) else ():
            # "from_name|to_name|type"; a name may hold a bar, too.
            name = str(key).rsplit("|", 2)[0]
            found[name] = found.get(name, 0) + int(count)
        return found

    def create_project(self, fields: Mapping[str, Any]) -> RemoteProject:
        """Makes a project; `fields` are the API's own names.

        Raises:
            UnansweredError: It may or may not be there.
        """
        return _project(self._written("POST", "/api/projects/", fields))

    def update_project(self, project_id: int, fields: Mapping[str, Any]) -> RemoteProject:
        """Changes these fields of a project, and no others. Harmless to repeat."""
        return _project(self._written("PATCH", f"/api/projects/{project_id}/", fields))

    def create_view(self, project_id: int, data: Mapping[str, Any]) -> None:
        """Adds a tab to a project's list of tasks."""
        self._written("POST", "/api/dm/views/", {"project": project_id, "data": data})

    def tasks(
        self,
        project_id: int,
        include: Sequence[str],
        *,
        conditions: Sequence[Filter] = (),
        after: int = 0,
        ids: Sequence[int] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Lists tasks in the order of their ids.

        Args:
            project_id: The project.
            include: Fields of each row; `id` always comes.
            conditions: All of them must hold (see `where`); the caller checks that the server heeds them.
            after: Only tasks with a greater id.
            ids: Only these; at most a few hundred.

        Raises:
            RemoteError: The server gives fewer than it counts, or in another order.
        """
        last = after
        while True:
            items = [*conditions, where("id", "greater", last, "Number")]
            query: dict[str, Any] = {"filters": {"conjunction": "and", "items": items}}
            if ids is not None:
                query["selectedItems"] = {"all": False, "included": list(ids)}
            params = {
                "project": project_id,
                "page": 1,
                "page_size": _PAGE,
                "include": ",".join(dict.fromkeys(["id", *include])),
                "query": msgspec.json.encode(query).decode(),
            }
            value = self._object("/api/tasks/", params)
            rows, total = value.get("tasks"), value.get("total")
            if not isinstance(rows, list) or not isinstance(total, int):
                raise RemoteError(f"{self.url} lists tasks in a way that this version does not know")
            for row in rows:
                if row["id"] <= last:
                    raise RemoteError(f"{self.url} does not heed the filter of a listing (task {row['id']})")
                last = row["id"]
                yield row
            if total <= len(rows):
                return
            if not rows:
                raise RemoteError(f"{self.url} counts {total} more tasks and lists none of them", hint="Try again.")

    def count_tasks(self, project_id: int, conditions: Sequence[Filter]) -> int:
        """How many tasks meet all of the conditions."""
        return self.first_task(project_id, "id", conditions)[1]

    def first_task(
        self, project_id: int, order: str, conditions: Sequence[Filter] = ()
    ) -> tuple[dict[str, Any] | None, int]:
        """The first of the tasks that meet all of the conditions, in some order, and how many they are.

        Args:
            project_id: The project.
            order: A field; with `-` in front, the greatest value comes first.
            conditions: As in `tasks`; the caller checks that the server heeds them, and the order.

        Returns:
            `id` and `updated_at` of the task, or None where there is none; and the count.
        """
        query = {"filters": {"conjunction": "and", "items": list(conditions)}, "ordering": [f"tasks:{order}"]}
        params = {"project": project_id, "page": 1, "page_size": 1, "include": "id,updated_at"}
        value = self._object("/api/tasks/", {**params, "query": msgspec.json.encode(query).decode()})
        rows, total = value.get("tasks"), value.get("total")
        if not isinstance(rows, list) or not isinstance(total, int):
            raise RemoteError(f"{self.url} lists tasks in a way that this version does not know")
        return (rows[0] if rows else None), total

    def task(self, task_id: int, include: Sequence[str]) -> dict[str, Any] | None:
        """These fields of one task; `annotations` come whole. None where there is no such task."""
        value, _ = self._http.read(f"/api/tasks/{task_id}/", {"include": ",".join(include)}, missing_ok=True)
        return value if isinstance(value, dict) else None

    def import_tasks(self, project_id: int, tasks: Sequence[bytes]) -> list[int]:
        """Adds tasks, each a JSON document; all of them or, where one is refused, none.

        Returns:
            Their ids. The order is the server's affair: match by marker.

        Raises:
            UnansweredError: They may or may not be there, or (on a server that imports in the background) will be.
            RemoteError: They were refused, and none is there.
        """
        path = f"/api/projects/{project_id}/import"
        body = b"[" + b",".join(tasks) + b"]"
        value = self._http.write("POST", path, body, {"return_task_ids": "true"}, seconds=_IMPORT_SECONDS)
        ids = value.get("task_ids") if isinstance(value, dict) else None
        if isinstance(ids, list) and len(ids) == len(tasks):
            return [int(task_id) for task_id in ids]
        if isinstance(value, dict) and "import" in value:
            raise UnansweredError(
                f"{self.url} imports {len(tasks)} tasks in the background (import {value['import']}), and they are not "
                "there yet",
                hint=LOOKS_FIRST,
            )
        raise UnansweredError(f"{self.url} POST {path}: does not say which tasks it has made", settled=True)

    def update_task(self, task_id: int, data: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        """Replaces data and meta of a task; its annotations stay. Harmless to repeat."""
        # Without include= the answer repeats the whole task.
        self._written("PATCH", f"/api/tasks/{task_id}/", {"data": data, "meta": meta}, {"include": "id"})

    def update_meta(self, task_id: int, meta: Mapping[str, Any]) -> None:
        """Replaces the meta of a task, and nothing else. Harmless to repeat."""
        self._written("PATCH", f"/api/tasks/{task_id}/", {"meta": meta}, {"include": "id"})

    def predictions(self, task_id: int) -> list[dict[str, Any]]:
        """All predictions of a task, whoever made them, oldest first."""
        value, _ = self._http.read("/api/predictions/", {"task": task_id})
        if not isinstance(value, list):
            raise RemoteError(f"{self.url} lists predictions in a way that this version does not know")
        # A server that does not heed the filter would show us those of other tasks.
        mine = [row for row in value if isinstance(row, dict) and row.get("task") == task_id]
        return sorted(mine, key=lambda row: int(row["id"]))

    def create_prediction(self, task_id: int, prediction: Mapping[str, Any]) -> None:
        """Adds a prediction to a task.

        Raises:
            UnansweredError: It may or may not be there.
        """
        self._written("POST", "/api/predictions/", {"task": task_id, **prediction})

    def update_prediction(self, prediction_id: int, prediction: Mapping[str, Any]) -> None:
        """Replaces these fields of a prediction. Harmless to repeat."""
        self._written("PATCH", f"/api/predictions/{prediction_id}/", prediction)

    def delete_prediction(self, prediction_id: int) -> None:
        """Deletes a prediction; annotations that were made of it keep their copy."""
        self._http.write("DELETE", f"/api/predictions/{prediction_id}/", b"")

    def annotate(
        self,
        task_id: int,
        result: Sequence[Mapping[str, Any]],
        *,
        skipped: bool = False,
        lead_time: float | None = None,
    ) -> int:
        """Submits an answer as this account, or skips the task; for demos and tests.

        Returns:
            The annotation's number.

        Raises:
            UnansweredError: It may or may not be there.
        """
        fields = {"result": list(result), "was_cancelled": skipped, "lead_time": lead_time}
        return int(self._written("POST", f"/api/tasks/{task_id}/annotations/", fields)["id"])

    def export(self, project_id: int, ids: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Whole tasks with their annotations and drafts, in portions that fit into memory.

        A task that is not there any more, or never was in the project, does not come.
        """
        position, size = 0, _EXPORT_FIRST
        while position < len(ids):
            portion = ids[position : position + size]
            position += len(portion)
            # Without download_all_tasks, a task whose last annotation was deleted would not come.
            params = [("exportType", "JSON"), ("download_all_tasks", "true"), *(("ids[]", i) for i in portion)]
            rows, length = self._http.read(f"/api/projects/{project_id}/export", params)
            if not isinstance(rows, list):
                raise RemoteError(f"{self.url} exports in a way that this version does not know")
            wanted = set(portion)
            if any(row["id"] not in wanted for row in rows):
                raise RemoteError(f"{self.url} exports other tasks than were asked for")
            yield from rows
            if rows:
                per_task = max(length // len(rows), 1)
                size = max(1, min(_EXPORT_IDS, size * 4, _EXPORT_BYTES // per_task))

    def _object(self, path: str, params: Any = None) -> dict[str, Any]:
        value, _ = self._http.read(path, params)
        if not isinstance(value, dict):
            raise RemoteError(f"{self.url} GET {path}: expected an object, got {type(value).__name__}")
        return value

    def _written(self, method: str, path: str, fields: Mapping[str, Any], params: Any = None) -> dict[str, Any]:
        value = self._http.write(method, path, to_json(fields), params)
        if not isinstance(value, dict):
            raise UnansweredError(f"{self.url} {method} {path}: the answer makes no sense", settled=True)
        return value


def _project(row: Mapping[str, Any]) -> RemoteProject:
    return RemoteProject(
        project_id=int(row["id"]),
        title=row.get("title") or "",
        description=row.get("description") or "",
        label_config=row.get("label_config") or "",
        instruction=row.get("expert_instruction") or "",
        tasks=row.get("task_number") or 0,
        submitted=row.get("total_annotations_number") or 0,
        skipped=row.get("skipped_annotations_number") or 0,
        model_version=row.get("model_version") or "",
        shows_predictions=row.get("show_collab_predictions") is not False,
    )
