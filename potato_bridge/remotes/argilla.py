"""Argilla: the only code that knows its API.

Measured with 2.8.0 (SQLite). Some ways of it shape this module:

* A record has an external id, unique in its data set: an upsert by it can be repeated at will. Of a record that is
  there already, what the upsert leaves out stays as it is.
* Records are listed from the database and not from the search engine, so that a stale index cannot hide one. The list
  is sorted by the time of insertion alone and paged by offset; each page begins with the last record of the one before,
  which shows whether the list has moved meanwhile.
* Metadata of a data set is fixed when it is made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from msgspec import UNSET, UnsetType

from potato_bridge.errors import AuthError, RemoteError
from potato_bridge.remotes.argilla_api import API, ArgillaApi
from potato_bridge.remotes.argilla_values import (
    Dataset,
    Field,
    MetadataProperty,
    Question,
    Record,
    Response,
    ServerStatus,
    StoredRecord,
    User,
    UserProgress,
    VectorSettings,
    Workspace,
)
from potato_bridge.remotes.base import UnansweredError
from potato_bridge.remotes.http import to_json

#: Of one upsert: the server's own limit, and a size that proxies let pass and that is stored within seconds.
MAX_RECORDS = 500
MAX_BYTES = 8 * 1024 * 1024
#: Ids of one deletion: the server's own limit.
_MAX_DELETED = 100
_UPSERT_SECONDS = 300.0
#: Records of one page: 1,000 are the server's own limit. The number adapts, so that an answer has about this size; many
#: small pages take twice the time of a few large ones.
_PAGE_FIRST = 50
_PAGE_MOST = 1000
_PAGE_LAST = 200
_PAGE_BYTES = 16 * 1024 * 1024
#: How often a list is read from its start because it has moved.
_PASSES = 3


def batches(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Records, each a JSON document, in portions that one upsert takes; one that is too large comes alone."""
    batch: list[bytes] = []
    size = 0
    for record in records:
        if batch and (len(batch) == MAX_RECORDS or size + len(record) > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += len(record) + 1
    if batch:
        yield batch


class Argilla(ArgillaApi):
    """One Argilla server, as one account.

    Args:
        url: The server's address; a path in front of the API is fine.
        api_key: The account's API key. It is never shown.
        transport: What carries the requests; the network if None.

    Raises:
        UsageError: The address is none.
        AuthError: The key cannot be one.

    Example:
        >>> with Argilla("http://localhost:6900", key) as server:  # doctest: +SKIP
        ...     print(server.version(), server.me().username)
    """

    # --- the server and its people ------------------------------------------------------------------------------------

    def version(self) -> str:
        """The server's version, such as "2.8.0"; needs no key.

        Raises:
            RemoteError: Not reachable, or no Argilla.
        """
        value, _ = self._http.read(f"{API}/version")
        if isinstance(value, dict) and isinstance(value.get("version"), str):
            return str(value["version"])
        raise RemoteError(f"{self.url} does not say which version of Argilla it is", hint="Is it Argilla?")

    def status(self) -> ServerStatus:
        """Version and search engine; needs no key.

        Raises:
            RemoteError: Not reachable, or its search engine is not.
        """
        value, _ = self._http.read(f"{API}/status")
        engine = value.get("search_engine") if isinstance(value, dict) else None
        if not isinstance(engine, dict):
            raise RemoteError(f"{self.url} does not say how it is", hint="Is it Argilla?")
        about = engine.get("version")
        about = about if isinstance(about, dict) else {}
        # Of the two stock engines, the name is that of a machine.
        named = "Elasticsearch" if "tagline" in engine else str(engine.get("name") or "unknown")
        named = "OpenSearch" if about.get("distribution") == "opensearch" else named
        return ServerStatus(str(value.get("version") or ""), named, str(about.get("number") or ""))

    def me(self) -> User:
        """The account that the key belongs to."""
        return self._one(f"{API}/me", User)

    def workspaces(self) -> list[Workspace]:
        """The workspaces that this account is in; of an owner all."""
        return self._many(f"{API}/me/workspaces", Workspace)

    def create_workspace(self, name: str) -> Workspace:
        """Makes a workspace; only an owner may."""
        return self._made("POST", f"{API}/workspaces", {"name": name}, Workspace)

    def users(self, workspace_id: str) -> dict[str, User]:
        """Accounts by id: the members of a workspace and, where this account is an owner, everybody.

        Who has answered and left the workspace is known to an owner only.
        """
        found: list[User] = []
        for path in (f"{API}/users", f"{API}/workspaces/{workspace_id}/users"):
            try:
                found += self._many(path, User)
            except AuthError:
                if path != f"{API}/users":
                    raise
        return {user.id: user for user in found}

    def create_user(self, username: str, password: str, role: str = "annotator") -> tuple[User, str]:
        """Makes an account; only an owner may. For demos.

        Returns:
            The account, and its API key.
        """
        fields = {"first_name": username, "username": username, "password": password, "role": role}
        value = self._http.write("POST", f"{API}/users", to_json(fields))
        return self._convert(f"{API}/users", value, User, written=True), str(value["api_key"])

    def add_to_workspace(self, workspace_id: str, user_id: str) -> None:
        """Lets an account see a workspace; only an owner may."""
        self._http.write("POST", f"{API}/workspaces/{workspace_id}/users", to_json({"user_id": user_id}))

    # --- data sets ----------------------------------------------------------------------------------------------------

    def datasets(self, workspace_id: str | None = None, name: str | None = None) -> list[Dataset]:
        """The data sets that this account sees, oldest first; drafts too."""
        params = {key: value for key, value in (("workspace_id", workspace_id), ("name", name)) if value is not None}
        found = self._many(f"{API}/me/datasets", Dataset, params)
        # A server that does not heed the filter would show us others.
        return [
            dataset
            for dataset in found
            if workspace_id in (None, dataset.workspace_id) and (name is None or dataset.name == name)
        ]

    def dataset(self, dataset_id: str) -> Dataset | None:
        """One data set; None where there is no such."""
        path = f"{API}/datasets/{dataset_id}"
        value, _ = self._http.read(path, missing_ok=True)
        return None if value is None else self._convert(path, value, Dataset)

    def create_dataset(
        self,
        workspace_id: str,
        name: str,
        *,
        guidelines: str = "",
        min_submitted: int = 1,
        allow_extra_metadata: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """Makes a draft: fields and questions come next, then `publish`.

        Args:
            workspace_id: Where.
            name: 1 to 200 characters, unique in the workspace.
            guidelines: Markdown, at most 10,000 characters; empty: none.
            min_submitted: How many answers complete a record.
            allow_extra_metadata: Whether records may have metadata without a property for it.
            metadata: Of the data set itself; it can never be changed.

        Raises:
            UnansweredError: It may or may not be there.
            RemoteError: Refused, as where the name is taken.
        """
        fields = {
            "workspace_id": workspace_id,
            "name": name,
            "guidelines": guidelines or None,
            "allow_extra_metadata": allow_extra_metadata,
            "distribution": _overlap(min_submitted),
            "metadata": metadata,
        }
        return self._made("POST", f"{API}/datasets", fields, Dataset)

    def update_dataset(
        self,
        dataset_id: str,
        *,
        name: str | UnsetType = UNSET,
        guidelines: str | UnsetType = UNSET,
        min_submitted: int | UnsetType = UNSET,
    ) -> Dataset:
        """Replaces these properties, of a published data set too. Harmless to repeat.

        A changed `min_submitted` reaches the status of records that are there by a job of the server's worker.
        """
        changes: dict[str, Any] = {}
        if name is not UNSET:
            changes["name"] = name
        if guidelines is not UNSET:
            changes["guidelines"] = guidelines or None
        if not isinstance(min_submitted, UnsetType):
            changes["distribution"] = _overlap(min_submitted)
        return self._made("PATCH", f"{API}/datasets/{dataset_id}", changes, Dataset)

    def publish(self, dataset_id: str) -> Dataset:
        """Makes a draft ready for records; from then on, fields and questions can be changed and not added.

        Raises:
            UnansweredError: It may or may not be published: look at its status.
            RemoteError: It has no field or no required question, or is published already.
        """
        return self._made("PUT", f"{API}/datasets/{dataset_id}/publish", None, Dataset)

    def delete_dataset(self, dataset_id: str) -> None:
        """Deletes a data set with all its records and answers."""
        self._http.write("DELETE", f"{API}/datasets/{dataset_id}", b"")

    def fields(self, dataset_id: str) -> list[Field]:
        """The fields of a data set, in their order."""
        return self._many(f"{API}/datasets/{dataset_id}/fields", Field)

    def questions(self, dataset_id: str) -> list[Question]:
        """The questions of a data set, in their order."""
        return self._many(f"{API}/datasets/{dataset_id}/questions", Question)

    def metadata_properties(self, dataset_id: str) -> list[MetadataProperty]:
        """The metadata properties of a data set."""
        return self._many(f"{API}/me/datasets/{dataset_id}/metadata-properties", MetadataProperty)

    def vectors_settings(self, dataset_id: str) -> list[VectorSettings]:
        """The vectors of a data set."""
        return self._many(f"{API}/datasets/{dataset_id}/vectors-settings", VectorSettings)

    def create_field(self, dataset_id: str, definition: Mapping[str, Any]) -> Field:
        """Adds a field to a draft: `name`, `title`, `required`, `settings`."""
        return self._made("POST", f"{API}/datasets/{dataset_id}/fields", definition, Field)

    def create_question(self, dataset_id: str, definition: Mapping[str, Any]) -> Question:
        """Adds a question to a draft: `name`, `title`, `description`, `required`, `settings`."""
        return self._made("POST", f"{API}/datasets/{dataset_id}/questions", definition, Question)

    def create_metadata_property(self, dataset_id: str, definition: Mapping[str, Any]) -> MetadataProperty:
        """Adds a metadata property, also to a published data set: `name`, `title`, `settings`."""
        return self._made("POST", f"{API}/datasets/{dataset_id}/metadata-properties", definition, MetadataProperty)

    def create_vector_settings(self, dataset_id: str, definition: Mapping[str, Any]) -> VectorSettings:
        """Adds a vector, also to a published data set: `name`, `title`, `dimensions`."""
        return self._made("POST", f"{API}/datasets/{dataset_id}/vectors-settings", definition, VectorSettings)

    def update_field(self, field_id: str, changes: Mapping[str, Any]) -> Field:
        """Replaces `title` or `settings` of a field, such as its template. Harmless to repeat."""
        return self._made("PATCH", f"{API}/fields/{field_id}", changes, Field)

    def update_question(self, question_id: str, changes: Mapping[str, Any]) -> Question:
        """Replaces `title`, `description` or `settings` of a question. Harmless to repeat."""
        return self._made("PATCH", f"{API}/questions/{question_id}", changes, Question)

    # --- records ------------------------------------------------------------------------------------------------------

    def upsert_records(self, dataset_id: str, records: Sequence[bytes]) -> list[StoredRecord]:
        """Makes or updates records by their `external_id`; all of them or, where one is refused, none.

        Args:
            dataset_id: A published data set.
            records: JSON documents, as `batches` gives them: `external_id`, `fields`, `metadata`, `suggestions`…

        Returns:
            The records, in the order given.

        Raises:
            UnansweredError: They may or may not be there. Harmless to repeat.
            RemoteError: They were refused, and none is there.
        """
        path = f"{API}/datasets/{dataset_id}/records/bulk"
        body = b'{"items":[' + b",".join(records) + b"]}"
        value = self._http.write("PUT", path, body, seconds=_UPSERT_SECONDS)
        stored = self._items(path, value, StoredRecord, written=True)
        if len(stored) != len(records):
            raise UnansweredError(
                f"{self.url} PUT {path}: stores {len(stored)} of {len(records)} records", settled=True
            )
        return stored

    def records(
        self, dataset_id: str, *, responses: bool = True, suggestions: bool = False, vectors: bool = False
    ) -> Iterator[Record]:
        """All records with everybody's answers, oldest first, each once, in pages that fit into memory.

        Raises:
            AuthError: The account is neither an owner nor an admin of the workspace.
            RemoteError: Records were deleted meanwhile, again and again.
        """
        wanted = {"responses": responses, "suggestions": suggestions, "vectors": vectors}
        include = ",".join(name for name, there in wanted.items() if there)
        seen: set[str] = set()
        for _ in range(_PASSES):
            found: set[str] = set()
            complete = False
            for page, total in self._pages(dataset_id, include):
                for record in page:
                    found.add(record.id)
                    if record.id not in seen:
                        seen.add(record.id)
                        yield record
                complete = len(found) >= total
            # Else the next pass shows what this one has jumped over.
            if complete:
                return
        raise RemoteError(
            f"{self.url}: the records of data set {dataset_id} changed while they were read",
            hint="Run it again when nobody pushes or deletes.",
        )

    def _pages(self, dataset_id: str, include: str) -> Iterator[tuple[list[Record], int]]:
        """Pages of new records, each with the total; ends early where the list has moved."""
        path = f"{API}/datasets/{dataset_id}/records"
        position, size, last = 0, _PAGE_FIRST, ""
        # The next page is on its way while the caller is at work on this one.
        with ThreadPoolExecutor(1) as ahead:

            def read() -> Future[tuple[Any, int]]:
                overlap = 1 if position else 0
                params: dict[str, Any] = {"offset": position - overlap, "limit": size + overlap}
                return ahead.submit(self._http.read, path, params | ({"include": include} if include else {}))

            asked: Future[tuple[Any, int]] | None = read()
            while asked is not None:
                overlap = 1 if position else 0
                value, length = asked.result()
                known = value if isinstance(value, dict) else {}
                total, listed = known.get("total"), known.get("items")
                if not isinstance(total, int) or not isinstance(listed, list):
                    raise RemoteError(f"{self.url} lists records in a way that this version does not know")
                position += max(0, len(listed) - overlap)
                asked = None
                if len(listed) > overlap and position < total:
                    # Small ones at the end: nothing is on its way any more while the caller is at work on the last one.
                    left = max(_PAGE_LAST, (total - position) // 2)
                    size = max(1, min(_PAGE_MOST - 1, left, size * 8, _PAGE_BYTES // max(length // len(listed), 1)))
                    asked = read()
                rows = self._items(path, value, Record)
                if overlap and (not rows or rows[0].id != last):
                    # Counted as one more than was found, so that it is read again.
                    yield [], max(total, position) + 1
                    return
                last = rows[-1].id if rows else last
                yield rows[overlap:], total

    def record(self, record_id: str) -> Record | None:
        """One record with its answers and suggestions; None where there is none."""
        path = f"{API}/records/{record_id}"
        value, _ = self._http.read(path, missing_ok=True)
        return None if value is None else self._convert(path, value, Record)

    def count_records(self, dataset_id: str) -> int:
        """How many records a data set has, whoever made them."""
        value, _ = self._http.read(f"{API}/datasets/{dataset_id}/records", {"limit": 1})
        total = value.get("total") if isinstance(value, dict) else None
        if not isinstance(total, int):
            raise RemoteError(f"{self.url} lists records in a way that this version does not know")
        return total

    def progress(self, dataset_id: str) -> list[UserProgress]:
        """How far each person is who has answered; of the database, not of the search engine."""
        path = f"{API}/datasets/{dataset_id}/users/progress"
        value, _ = self._http.read(path)
        return self._items(path, value, UserProgress, key="users")

    def delete_records(self, dataset_id: str, record_ids: Sequence[str]) -> None:
        """Deletes records with their answers. Harmless to repeat."""
        for start in range(0, len(record_ids), _MAX_DELETED):
            ids = ",".join(record_ids[start : start + _MAX_DELETED])
            self._http.write("DELETE", f"{API}/datasets/{dataset_id}/records", b"", {"ids": ids})

    def respond(self, record_id: str, values: Mapping[str, Any], *, status: str = "submitted") -> Response:
        """Answers a record as this account, `{question name: value}`; for demos and tests.

        Raises:
            UnansweredError: It may or may not be there.
            RemoteError: Refused, as where this account has answered already.
        """
        fields = {"status": status, "values": {name: {"value": value} for name, value in values.items()} or None}
        return self._made("POST", f"{API}/records/{record_id}/responses", fields, Response)


def _overlap(min_submitted: int) -> dict[str, Any]:
    return {"strategy": "overlap", "min_submitted": min_submitted}
