"""Plans as EXPLAIN prints them, read back into trees."""

import dataclasses
import re

RULE = re.compile(r"-+(\+-+)*")
FOOTER = re.compile(r"\(\d+ rows?\)")
ARROW = re.compile(r" *-> +(\S.*)")
HEADING = re.compile(r"(InitPlan|SubPlan|CTE) \S+( \(returns .*\))?")
FIGURES = re.compile(r"  ?\((?:cost=|actual |never executed).*")
PROPERTY = re.compile(r"([A-Z][\w /-]*?): ?(.*)")


@dataclasses.dataclass
class Node:
    """A node of a plan. `role` is the heading that it stands under (InitPlan, SubPlan, CTE), empty
    for an input of the node above; `figures` are costs and what was measured, as printed."""

    title: str
    role: str
    figures: str
    properties: list = dataclasses.field(default_factory=list)
    children: list = dataclasses.field(default_factory=list)

    def walk(self):
        """Yields this node and all below."""
        yield self
        for child in self.children:
            yield from child.walk()

    def values(self, *names):
        """The texts of the properties that have these names."""
        return [value for name, value in self.properties if name in names]

    @property
    def is_engine(self):
        """Whether the engine does this node's work."""
        return self.title == "Custom Scan (LoomScan)"


def lines_of(result):
    """The lines of a plan in what psql printed."""
    rule = next((i for i, line in enumerate(result) if RULE.fullmatch(line)), len(result))
    for line in result[rule + 1 :]:
        if FOOTER.fullmatch(line) or not line.startswith(" "):
            return
        if line.strip():
            yield line[1:].rstrip()


def parse(result):
    """The trees of a printed plan: one, or one for each query that a rule made. None if what psql
    printed is no plan, or one that is not in the text format."""
    roots, above, role = [], [], ""
    for line in lines_of(result):
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        arrow = ARROW.fullmatch(line)
        if indent == 0 and not text[0].isalpha():
            return None
        if HEADING.fullmatch(text):
            role = text
        elif arrow or (indent == 0 and not PROPERTY.fullmatch(text)):
            title = arrow[1] if arrow else text
            figures = FIGURES.search(title)
            node = Node(title[: figures.start() if figures else None], role, figures[0] if figures else "")
            while above and above[-1][0] >= indent:
                above.pop()
            (above[-1][1].children if above else roots).append(node)
            above.append((indent, node))
            role = ""
        elif indent > 0 and above:
            add_property(above, indent, text)
        elif indent > 0:
            return None
    return roots or None


def add_property(above, indent, text):
    """A line of the node above: a property, or a further line of its last one."""
    place, node = above[-1]
    # Properties stand two columns behind the node's title, which an arrow precedes if it is no root.
    is_further = indent > place + (2 if len(above) == 1 else 6)
    if is_further and node.properties:
        name, value = node.properties[-1]
        node.properties[-1] = (name, f"{value}\n{text}")
    else:
        match = PROPERTY.fullmatch(text)
        node.properties.append((match[1], match[2]) if match else (text, ""))
