"""What both modes of process_reward share."""

from potato_bridge.converters.label_studio.question import Task
from potato_bridge.model import ProcessReward


def reward_notices(scheme: ProcessReward) -> dict[str, tuple[bool, str]]:
    """What the config asks for and Label Studio does in neither mode."""
    return {
        "no-scheme-target": (
            bool(scheme.target) and scheme.target != "agentic_steps",
            f"target: {scheme.target!r} is not known; the steps of the trace are rated",
        ),
        "no-prelabel": (scheme.ai_prelabel, "ai_prelabel: Label Studio does not ask a model for labels of this kind"),
        "no-verification": (
            scheme.require_verification,
            "require_verification: Label Studio does not ask to confirm each label; Submit confirms the answer",
        ),
    }


def steps_then(task: Task, now: int) -> int:
    """How many steps the task had when the answer was given."""
    then = task.revision.get("total_steps") if task.revision is not None else None
    return then if isinstance(then, int) else now
