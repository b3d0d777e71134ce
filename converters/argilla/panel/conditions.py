"""When a form of the panel is asked for: as another scheme was answered, in the panel or at a question of Argilla."""

from typing import Any

from potato_bridge.converters.argilla.fields import name_for
from potato_bridge.converters.view.text import storable
from potato_bridge.model.general import General


def conditions(scheme: General) -> list[dict[str, Any]]:
    """The conditions of a scheme, as the panel checks them."""
    return [
        {
            "scheme": condition.scheme,
            "question": name_for(condition.scheme),
            "values": [storable(value) for value in condition.values],
            "negated": condition.negated,
        }
        for condition in scheme.conditions
    ]
