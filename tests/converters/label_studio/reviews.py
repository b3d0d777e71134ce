"""Changes and projects, made by hand, for the tests of code review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from potato_bridge.converters.label_studio.tasks import build_task
from potato_bridge.converters.potato.config import read_project
from potato_bridge.model import CodeReviewScheme, Project, Trace
from potato_bridge.model.code_review import CommentCategory
from potato_bridge.model.trace import Patch
from potato_bridge.notices import Notices
from tests.converters.label_studio import samples

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "code_review" / "config.yaml"

#: Rows of src/parser.py: 0 the hunk's header, 1 `def`, 2 `head` (removed), 3 `return` (removed), 4 and 5 added,
#: 6 a blank context line, 7 an added blank line, 8 context; 9 the second header, 10 to 12.
PARSER = """\
diff --git a/src/parser.py b/src/parser.py
--- a/src/parser.py
+++ b/src/parser.py
@@ -40,5 +40,6 @@ class Parser:
 def parse(tokens):  # é 😀
-    head = tokens[0]
-    return head
+    if tokens and a < b <b>&amp;</b>:
+        return tokens[0]
~
+
     x = 1
@@ -90,3 +91,2 @@
 last
-gone
 end
""".replace("~", " ")
TESTS = """\
diff --git a/tests/test_parser.py b/tests/test_parser.py
new file mode 100644
--- /dev/null
+++ b/tests/test_parser.py
@@ -0,0 +1,2 @@
+def test_empty():
+    assert parse([]) is None
"""
OTHERS = """\
diff --git a/old/name.py b/new/name.py
similarity index 100%
rename from old/name.py
rename to new/name.py
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
\\ No newline at end of file
"""


def project(**options: Any) -> Project:
    """The example's project, with other options of the scheme `review`."""
    made = read_project(EXAMPLE, Notices())
    for key, value in options.items():
        setattr(scheme(made), key, value)
    return made


def scheme(made: Project) -> CodeReviewScheme:
    return next(scheme for scheme in made.schemes if isinstance(scheme, CodeReviewScheme))


def categories(*names: str) -> list[CommentCategory]:
    return [CommentCategory(name=name) for name in names]


def changed(patch: str, trace_id: str = "trace_042") -> Trace:
    """A run whose final patch this is."""
    made = samples.trace([samples.agent(text="Done.")], trace_id=trace_id)
    made.final_patch = Patch(text=patch)
    return made


def task(patch: str, made: Project | None = None, notices: Notices | None = None) -> dict[str, Any]:
    trace, notices = changed(patch), Notices() if notices is None else notices
    return build_task(made or project(), samples.item(trace), trace, notices, load_image=lambda _: None)


def long_patch(lines: int, files: int = 1) -> str:
    """A change of that many lines, half of them context."""
    made = []
    for file in range(files):
        body, count = [], lines // files
        for n in range(count):
            body.append(f"{' +- '[n % 4]}    value_{n} = compute(first_{n}, second_{n}) + {n}  # checked")
        old = sum(line[0] != "+" for line in body)
        new = sum(line[0] != "-" for line in body)
        made.append(f"--- a/src/module_{file}.py\n+++ b/src/module_{file}.py\n@@ -1,{old} +1,{new} @@\n")
        made.append("\n".join(body) + "\n")
    return "".join(made)
