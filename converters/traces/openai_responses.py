"""Conversations in the form of OpenAI's Responses API: requests and responses, and lists of their items.

There is no message that holds the calls: one step is a run of items of the model up to the next output or message.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato_bridge.converters.tool_calls import as_text
from potato_bridge.converters.traces._items import CALLS, HARNESS, reasoning_of, result_of, texts_of
from potato_bridge.converters.traces._values import count_of, dict_of, string_of
from potato_bridge.converters.traces.build import Builder
from potato_bridge.converters.traces.inputs import Source
from potato_bridge.converters.traces.reader import Report
from potato_bridge.converters.traces.records import Raw
from potato_bridge.model.trace import Ref, Step, Trace, Usage


class OpenAiResponses:
    """The reader."""

    name = "openai_responses"
    title = "OpenAI Responses"

    def score(self, source: Source) -> int:
        """By lists of items, as `output` (and `input`) of documents, or alone."""
        if source.form == "array" and _is_items(source.head):
            return 70
        return 70 if source.head and all(_items_of(value) is not None for value in source.head) else 0

    def read(self, source: Source, report: Report) -> Iterator[Trace]:
        """One trace of each document, or of a list of items."""
        if source.form == "array" and _is_items(source.head):
            raws = list(source.records())
            yield _Run(source, raws[0], {}).read([raw.value for raw in raws], 0)
            return
        for raw in source.records():
            if raw.bad is not None:
                report.fail(source, raw.bad, raw.line)
            elif (items := _items_of(raw.value)) is None:
                report.skip("no items of a response")
            else:
                yield _Run(source, raw, raw.value).read(items, len(items) - len(raw.value["output"]))


def _items_of(document: Any) -> list[Any] | None:
    """What was sent, then what came back; None where the document is none of this API."""
    if not isinstance(document, dict):
        return None
    sent, came = document.get("input"), document.get("output")
    sent = [{"type": "message", "role": "user", "content": sent}] if isinstance(sent, str) else sent
    items = [*(sent if isinstance(sent, list) else []), *(came if isinstance(came, list) else [])]
    return items if isinstance(came, list) and _is_items(items) else None


def _is_items(items: Sequence[Any]) -> bool:
    kinds = [_kind(item) for item in items]
    # Messages without a type are those of chats.
    typed = [str(item["type"]) for item in items if isinstance(item, dict) and "type" in item]
    return None not in kinds and any(
        kind in ("message", "reasoning", *CALLS) or kind.endswith("_output") for kind in typed
    )


def _kind(item: Any) -> str | None:
    """The type of an item; a message may be without."""
    if not isinstance(item, dict):
        return None
    kind = item.get("type")
    if isinstance(kind, str):
        # Events of a stream and rows of sessions have types, too.
        fits = kind != "message" or ("role" in item and "message" not in item)
        return kind if fits and "payload" not in item else None
    return "message" if isinstance(item.get("role"), str) and "content" in item else None


class _Run:
    """One list of items."""

    def __init__(self, source: Source, raw: Raw, document: Mapping[str, Any]) -> None:
        self.source, self.raw, self.document = source, raw, document
        self.builder = Builder(source, OpenAiResponses.name)
        self.step: Step | None = None
        self.own: list[Step] = []
        self.is_own = False
        for note in raw.notes:
            self.builder.loss(note)

    def read(self, items: Sequence[Any], sent: int) -> Trace:
        """The trace.

        Args:
            items: What was sent, then what came back.
            sent: How many were sent.
        """
        for ordinal, item in enumerate(items):
            if ordinal == sent:
                # What comes back is another response than the last one that was sent.
                self.step, self.is_own = None, bool(self.document)
            if isinstance(item, dict):
                self._item(item, Ref(ordinal=ordinal, native_id=string_of(item, "id")))
            else:
                self.builder.event(item)
                self.builder.loss("unknown-record", "item")
        return self._about()

    def _item(self, item: dict[str, Any], ref: Ref) -> None:
        kind, role = _kind(item), item.get("role")
        if kind == "message" and role != "assistant":
            self.step = None
            blocks = texts_of(item.get("content"))
            step = self.builder.step("user" if role == "user" else "system", blocks=blocks, ref=ref, role=as_text(role))
            step.flags.meta = role == "user" and HARNESS.match(step.text()) is not None
            if step.kind == "system" and self.builder.trace.agent.system_prompt is None:
                self.builder.trace.agent.system_prompt = step.text()
        elif kind == "message":
            content, step = item.get("content"), self._model(ref)
            step.blocks += texts_of(content)
            parts = content if isinstance(content, list) else []
            if any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts):
                step.extra["refusal"] = True
        elif kind == "reasoning":
            self._model(ref).blocks += reasoning_of(item)
        elif kind in CALLS:
            name = string_of(item, "name") or kind.removesuffix("_call")
            call_id = string_of(item, "call_id") or string_of(item, "id")
            self.builder.call(self._model(ref), {"call_id": call_id, "name": name, "arguments": item.get(CALLS[kind])})
        elif kind is not None and kind.endswith("_output"):
            self.step = None
            self.builder.result(string_of(item, "call_id"), result_of(item))
        else:
            self.builder.event(item)
            self.builder.loss("unknown-record", str(kind))
            return
        self.builder.mapped()

    def _model(self, ref: Ref) -> Step:
        if self.step is None:
            first = self.is_own and not self.own
            self.step = self.builder.step("agent", string_of(self.document, "id") if first else None, role="assistant")
            self.own += [self.step] if self.is_own else []
        self.step.refs.append(ref)
        return self.step

    def _about(self) -> Trace:
        trace, document = self.builder.trace, self.document
        trace.agent.model = string_of(document, "model")
        tools, usage = document.get("tools"), document.get("usage")
        trace.agent.tool_definitions = tools if isinstance(tools, list) and tools else None
        if isinstance(said := document.get("instructions"), str) and said:
            trace.agent.system_prompt = said
        last = next((step for step in reversed(trace.steps) if step.kind == "agent"), None)
        if last is not None:
            last.flags.terminal = not last.tool_calls
        if isinstance(usage, dict):
            used = Usage(
                input=count_of(usage, "input_tokens"),
                output=count_of(usage, "output_tokens"),
                cache_read=count_of(dict_of(usage, "input_tokens_details"), "cached_tokens"),
                reasoning=count_of(dict_of(usage, "output_tokens_details"), "reasoning_tokens"),
            )
            # Of one response; where its output holds several, nobody says which of them took how much.
            if len(self.own) == 1:
                self.own[0].usage = used
            else:
                trace.usage = used
        native = string_of(document, "id") or self.source.stem
        return self.builder.finish(native, self.raw.digest() if self.document else self.raw.array_digest())


READER = OpenAiResponses()
