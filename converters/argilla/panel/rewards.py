"""What both modes of process_reward share."""

from potato_bridge.model import ProcessReward


def reward_notices(scheme: ProcessReward) -> dict[str, tuple[bool, str]]:
    """What the config asks for and Argilla does in neither mode."""
    return {
        "no-scheme-target": (
            bool(scheme.target) and scheme.target != "agentic_steps",
            f"target: {scheme.target!r} is not known; the steps of the trace are rated",
        ),
        "no-prelabel": (scheme.ai_prelabel, "ai_prelabel: Argilla does not ask a model for labels of this kind"),
        "no-verification": (
            scheme.require_verification,
            "require_verification: Argilla does not ask to confirm each label; Submit confirms the answer",
        ),
    }
