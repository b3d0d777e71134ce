"""A search engine for the test server: it answers from the server's own tables, and so keeps no index.

Argilla asks Elasticsearch or OpenSearch for every list that its pages show. Neither can be had without Java or a
container, so the test server gets this one, through the registry that Argilla has for the two (nothing of Argilla is
changed). Imported by `argilla_launcher.py`, in the environment of the server.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from datetime import datetime
from typing import Any

from argilla_server.database import AsyncSessionLocal
from argilla_server.models import Question, Record, Response, Suggestion, Vector
from argilla_server.search_engine.base import (
    AndFilter,
    FloatMetadataMetrics,
    IntegerMetadataMetrics,
    MetadataFilterScope,
    RecordFilterScope,
    ResponseFilterScope,
    SearchEngine,
    SearchResponseItem,
    SearchResponses,
    SuggestionFilterScope,
    TermsFilter,
    TermsMetrics,
    TextQuery,
)
from argilla_server.settings import settings
from sqlalchemy import select


class Document:
    """A record with what is searched in it."""

    def __init__(self, row: Any) -> None:
        self.row = row
        self.responses: list[Any] = []
        self.suggestions: dict[str, Any] = {}

    @property
    def metadata(self) -> dict[str, Any]:
        return self.row.metadata_ or {}


@SearchEngine.register(settings.search_engine)
class TablesSearchEngine(SearchEngine):
    @classmethod
    async def new_instance(cls) -> TablesSearchEngine:
        return cls()

    async def ping(self) -> bool:
        return True

    async def info(self) -> dict[str, Any]:
        return {"name": settings.search_engine, "version": {"number": "0"}}

    async def _nothing(self, *_: Any, **__: Any) -> None:
        """There is no index to keep."""

    close = create_index = delete_index = configure_metadata_property = index_records = _nothing
    partial_record_update = delete_records = update_record_response = delete_record_response = _nothing
    update_record_suggestion = delete_record_suggestion = configure_index_vectors = _nothing

    async def get_dataset_progress(self, dataset: Any) -> dict[str, int]:
        if dataset.is_draft:
            return {}
        counts = Counter(plain(document.row.status) for document in await documents(dataset.id))
        return {"total": sum(counts.values()), **counts}

    async def get_dataset_user_progress(self, dataset: Any, user: Any) -> dict[str, int]:
        if dataset.is_draft:
            return {}
        found = await documents(dataset.id)
        mine = (answer for document in found for answer in document.responses if answer.user_id == user.id)
        counts = Counter(plain(answer.status) for answer in mine)
        return {"total": sum(counts.values()), **counts}

    async def compute_metrics_for(self, metadata_property: Any) -> Any:
        found = await documents(metadata_property.dataset_id)
        values = [value for document in found for value in many(document.metadata.get(metadata_property.name))]
        kind = plain(metadata_property.type)
        if kind == "terms":
            counts = Counter(values).most_common()
            terms = [TermsMetrics.TermCount(term=term, count=count) for term, count in counts]
            return TermsMetrics(total=len(values), values=terms)
        metrics = IntegerMetadataMetrics if kind == "integer" else FloatMetadataMetrics
        return metrics(min=min(values, default=None), max=max(values, default=None))

    async def search(
        self,
        dataset: Any,
        query: Any = None,
        filter: Any = None,
        sort: Any = None,
        offset: int = 0,
        limit: int = 100,
        user_id: Any = None,
    ) -> SearchResponses:
        found = [document for document in await documents(dataset.id) if filter is None or meets(document, filter)]
        scores = {document.row.id: hits(document, query) for document in found}
        found = [document for document in found if scores[document.row.id]]
        if sort:
            # The last key first: each sort keeps the order of the ones before it among equals.
            for order in reversed(sort):
                found = ordered(found, order)
        elif user_id:
            # As the stock engines do: an order of its own for each annotator, and always the same.
            found.sort(key=lambda document: hashlib.md5(f"{user_id}{document.row.id}".encode()).digest())
        elif query is not None:
            found.sort(key=lambda document: -scores[document.row.id])
        page = found[offset : offset + limit]
        items = [SearchResponseItem(record_id=document.row.id, score=scores[document.row.id]) for document in page]
        return SearchResponses(items=items, total=len(found))

    async def similarity_search(
        self,
        dataset: Any,
        vector_settings: Any,
        value: Any = None,
        record: Any = None,
        query: Any = None,
        filter: Any = None,
        max_results: int = 100,
        order: Any = "most_similar",
        threshold: float | None = None,
    ) -> SearchResponses:
        wanted = value or record.vector_value_by_vector_settings(vector_settings)
        async with AsyncSessionLocal() as session:
            chosen = select(Vector.record_id, Vector.value).where(Vector.vector_settings_id == vector_settings.id)
            vectors = {row.record_id: row.value for row in await session.execute(chosen)}
        items = [
            SearchResponseItem(record_id=document.row.id, score=cosine(wanted, vectors[document.row.id]))
            for document in await documents(dataset.id)
            if document.row.id in vectors
            and (record is None or document.row.id != record.id)
            and (filter is None or meets(document, filter))
        ]
        items.sort(key=lambda item: item.score, reverse=plain(order) == "most_similar")
        return SearchResponses(items=items[:max_results], total=len(items))


async def documents(dataset_id: Any) -> list[Document]:
    """All records of a data set, in the order in which they were made."""
    record = (Record.id, Record.external_id, Record.status, Record.inserted_at, Record.updated_at)
    answer = (Response.record_id, Response.user_id, Response.status, Response.values)
    offer = (Suggestion.record_id, Question.name, Suggestion.value, Suggestion.score, Suggestion.agent, Suggestion.type)
    async with AsyncSessionLocal() as session:
        chosen = select(*record, Record.metadata_, Record.fields).where(Record.dataset_id == dataset_id)
        rows = await session.execute(chosen.order_by(Record.inserted_at, Record.id))
        found = {row.id: Document(row) for row in rows}
        chosen = select(*answer).join(Record).where(Record.dataset_id == dataset_id)
        for row in await session.execute(chosen):
            if row.record_id in found:
                found[row.record_id].responses.append(row)
        chosen = select(*offer).join(Question).where(Question.dataset_id == dataset_id)
        for row in await session.execute(chosen):
            if row.record_id in found:
                found[row.record_id].suggestions[row.name] = row
    return list(found.values())


def meets(document: Document, condition: Any) -> bool:
    if isinstance(condition, AndFilter):
        return all(meets(document, part) for part in condition.filters)
    scope = condition.scope
    if isinstance(scope, ResponseFilterScope) and not scope.question:
        wanted = {str(plain(value)) for value in condition.values}
        states = {plain(answer.status) for answer in answers(document, scope)} or {"pending"}
        return not wanted.isdisjoint(states)
    values = values_at(document, scope)
    if isinstance(condition, TermsFilter):
        wanted = {str(plain(value)) for value in condition.values}
        return any(str(plain(value)) in wanted for value in values)
    return any(in_range(value, condition.ge, condition.le) for value in values)


def in_range(value: Any, low: Any, high: Any) -> bool:
    read = moment if isinstance(value, datetime) else float
    return (low is None or read(value) >= read(low)) and (high is None or read(value) <= read(high))


def answers(document: Document, scope: ResponseFilterScope) -> list[Any]:
    return [answer for answer in document.responses if scope.user is None or answer.user_id == scope.user.id]


def values_at(document: Document, scope: Any) -> list[Any]:
    """The values that a filter or an order is about."""
    if isinstance(scope, MetadataFilterScope):
        return many(document.metadata.get(scope.metadata_property))
    if isinstance(scope, RecordFilterScope):
        return many(getattr(document.row, str(plain(scope.property))))
    if isinstance(scope, SuggestionFilterScope):
        offer = document.suggestions.get(scope.question)
        return many(getattr(offer, scope.property)) if offer else []
    if scope.question is None:
        return [plain(answer.status) for answer in answers(document, scope)]
    given = ((answer.values or {}).get(scope.question) or {} for answer in answers(document, scope))
    return [value for answer in given for value in many(answer.get("value"))]


def ordered(found: list[Document], order: Any) -> list[Document]:
    """Sorted by the smallest value each; what has none comes last."""

    def key(document: Document) -> Any:
        values = values_at(document, order.scope)
        return min(value if isinstance(value, int | float | datetime) else str(plain(value)) for value in values)

    have = [document for document in found if values_at(document, order.scope)]
    none = [document for document in found if not values_at(document, order.scope)]
    return sorted(have, key=key, reverse=plain(order.order) == "desc") + none


def hits(document: Document, query: Any) -> float:
    """How often the words of a query are in the fields, all of them at least once; 1 where there is no query."""
    if query is None:
        return 1.0
    query = TextQuery(q=query) if isinstance(query, str) else query
    fields = document.row.fields
    texts = [fields.get(query.field)] if query.field else list(fields.values())
    words = Counter(re.findall(r"\w+", str(texts).lower()))
    counts = [words[word] for word in re.findall(r"\w+", query.q.lower())]
    return float(sum(counts)) if counts and all(counts) else 0.0


def cosine(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True)) / (math.hypot(*left) * math.hypot(*right) or 1.0)


def many(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def plain(value: Any) -> Any:
    """The value of an enum."""
    return getattr(value, "value", value)


def moment(value: Any) -> datetime:
    read = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return read.replace(tzinfo=None)
