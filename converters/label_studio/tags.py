"""The tags that the free edition of Label Studio has (1.23), and what they are.

The server takes any tag, and the page then fails in front of the annotator: so we look ourselves.
"""

from typing import Final

VISUAL: Final = ("View", "Header", "Style", "Markdown", "Collapse", "Panel", "Dialog", "Filter", "Repeater")
OBJECT: Final = (
    "Text",
    "HyperText",
    "Paragraphs",
    "Table",
    "List",
    "Image",
    "Audio",
    "AudioPlus",
    "Video",
    "TimeSeries",
    "Pdf",
)
CONTROL: Final = (
    "Choices",
    "Taxonomy",
    "TextArea",
    "Rating",
    "Number",
    "DateTime",
    "Pairwise",
    "Ranker",
    "Labels",
    "HyperTextLabels",
    "ParagraphLabels",
    "TimeSeriesLabels",
    "TimelineLabels",
    "Rectangle",
    "RectangleLabels",
    "Ellipse",
    "EllipseLabels",
    "Polygon",
    "PolygonLabels",
    "KeyPoint",
    "KeyPointLabels",
    "Vector",
    "VectorLabels",
    "Brush",
    "BrushLabels",
    "Bitmask",
    "BitmaskLabels",
    "MagicWand",
    "VideoRectangle",
)
#: Parts of another tag; they have no name of their own.
PART: Final = ("Choice", "Label", "Bucket", "Channel", "MultiChannel", "Relations", "Relation", "Shortcut")

#: What the paid editions have.
PAID: Final = ("ReactCode", "CustomInterface", "Chat")

#: Lower-case name → name: Label Studio's page does not mind the case.
KNOWN: Final = {name.lower(): name for name in (*VISUAL, *OBJECT, *CONTROL, *PART)}
