"""What has to be the same in a query's plan whether or not the engine has a part in it.

Each check takes a Pair and returns what differs, as text; empty if nothing does."""

import collections
import dataclasses
import re

from pg_suite import outputs

CHANGE = re.compile(r"(Insert|Update|Delete|Merge) on |LockRows")
CONFLICT = ("Conflict Resolution", "Conflict Arbiter Indexes", "Conflict Filter")
TABLE = re.compile(r"(?!CTE|Subquery|Bitmap Index).*Scan(?: Backward)?(?: using \S+)? on (?:\S+\.)?(\S+)")
MEASURED = re.compile(r"rows=(\w+) loops=(\w+)|never executed")
FILTERS = ("Filter", "Index Cond", "One-Time Filter", "TID Cond", "Order By", "Run Condition")
CONDITIONS = (*FILTERS, "Join Filter", "Hash Cond", "Merge Cond")
# Constants, numbers and names; types, collations, parameters and subqueries are passed over.
WORD = re.compile(
    r"'-?((?:[^']|'')*)'|\$\d+|::[\w\"]+(?: with(?:out)? time zone)?|collate \S+|subplan \d+|param \d+"
    r"|(\d[\d.]*)|(?:\"[^\"]*\"\.)?([a-z_][\w.]*)"
)
# Words that the engine writes otherwise or leaves out.
NOISE = set("and or not is null any all array hashed subplan alternatives true false unknown over row".split()) | {""}
# Operations that no setting adds or removes: how a plan's nodes are called, and what the engine says.
OPERATIONS = {
    "limit": (r"Limit", r"^limit "),
    "window": (r"WindowAgg", r"^window "),
    "set-returning functions": (r"ProjectSet", None),
    "recursion": (r"Recursive Union", None),
    "sample": (r"Sample Scan", None),
    "groups": (r"(Hash|Group|Mixed)?Aggregate|Group|Unique", r"^(aggregate|distinct|window|semi join)\b"),
    "intersection": (r"(Hash)?SetOp (Intersect|Except)", r"^(aggregate|window) "),
    "outer join": (r".* (Left|Right) Join", r"^(left|right|single left) join"),
    "full join": (r".* Full Join", r"^full join"),
    "anti join": (r".* Anti Join", r"^(right )?anti join"),
}


@dataclasses.dataclass
class Pair:
    """The plans of a statement without pg_loom and with it, and what psql printed of the latter."""

    file: str
    statement: str
    printed: list
    stock: list
    loom: list


def nodes(trees):
    """All nodes of some plans."""
    return [node for tree in trees for node in tree.walk()]


def values(trees, names):
    """The texts of some properties of all nodes."""
    return [text for node in nodes(trees) for text in node.values(*names)]


def engine_lines(trees):
    """What the engine does, without what it reads."""
    lines = [line for text in values(trees, ["Engine"]) for line in text.split("\n")]
    return [line for line in lines if not re.match(r"rows of child|scan |project ", line)]


def constants(texts):
    """How often texts have which constants."""
    found = [text.strip() or number for text, number, _ in WORD.findall(" ".join(texts).lower())]
    return collections.Counter(part for text in found for part in re.split(r'[{},"]+', text) if part)


def words(texts):
    """The columns, functions and constants that texts name."""
    names = {name.split(".")[-1] for *_, name in WORD.findall(" ".join(texts).lower())}
    return (names | constants(texts).keys()) - NOISE


def conjuncts(text):
    """The parts of a condition between its outermost ANDs, without qualifiers and numbers of parameters."""
    depth, parts = 0, [""]
    for token in re.findall(r"'(?:[^']|'')*'|[()]|\bAND\b|.", text[1:-1] if " AND " in text else text):
        depth += (token == "(") - (token == ")")
        if token == "AND" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [re.sub(r"\b[a-z]\w*\.|\$\d+|SubPlan \d+", "", part.strip()) for part in parts]


def filters(trees):
    """Nodes with the parts of their filters."""
    return [(node, conjuncts(text)) for node in nodes(trees) for text in node.values("Filter")]


def tables(trees):
    """How often each table or function is read."""
    matches = (TABLE.match(node.title) for node in nodes(trees))
    return collections.Counter(match[1] for match in matches if match)


def initplans(trees):
    """The subqueries that run once."""
    return [node for node in nodes(trees) if node.role.startswith("InitPlan")]


def has_engine(pair):
    """A plan without a LoomScan has to be PostgreSQL's own."""
    return "" if any(node.is_engine for node in nodes(pair.loom)) else "no LoomScan"


def same_changes(pair):
    """What changes or locks rows, how conflicts are resolved, and under which headings."""
    before, after = (
        [(n.title, n.role, n.values(*CONFLICT)) for n in nodes(trees) if CHANGE.match(n.title)]
        for trees in (pair.stock, pair.loom)
    )
    return "" if before == after else f"{before} became {after}"


def same_tables(pair):
    """The same tables and functions are read, as often."""
    before, after = tables(pair.stock), tables(pair.loom)
    return "" if before == after else f"no longer {dict(before - after)}, but {dict(after - before)}"


def same_conditions(pair):
    """Each column, function and constant of a condition is still in one, the constants as often as
    in the filters of scans. Columns may have become parameters or numbers of columns."""
    after = values(pair.loom, CONDITIONS) + engine_lines(pair.loom)
    lost = words(values(pair.stock, CONDITIONS)) - words(after)
    if re.search(r"\bparam \d|\$\d", "\n".join(engine_lines(pair.loom))):
        lost -= words(values(pair.loom, ["Engine", "Output"]))
    scans = [node for node in nodes(pair.stock) if TABLE.match(node.title)]
    counted = constants(text for node in scans for text in node.values(*FILTERS)) - constants(after)
    return " ".join(sorted(lost | counted.keys() - NOISE))


def same_security(pair):
    """Conditions that stay with PostgreSQL are evaluated in the order of their security levels and
    costs, and functions behind the conditions of the subquery whose rows they get."""
    for after, parts in filters(pair.loom):
        for before, known in filters(pair.stock):
            kept = [part for part in known if part in parts]
            if kept != sorted(kept, key=parts.index):
                return f"{parts}, not {known}"
            if before.title.startswith("Subquery Scan") and re.search(r"\b\w+\(", " ".join(kept)):
                below = words(values([after], CONDITIONS) + engine_lines([after]))
                if lost := words(values(before.children, CONDITIONS)) - below:
                    return f"{kept} without {sorted(lost)}"
    return ""


def same_sorting(pair):
    """What a statement's ORDER BY asks for is a sort in the plan, or comes from one."""
    before, after = (any(re.search("Sort|Index", n.title) for n in nodes(trees)) for trees in (pair.stock, pair.loom))
    after = after or any(line.startswith("sort ") for line in engine_lines(pair.loom))
    return "no sort" if before and not after and outputs.sort_keys(pair.statement) else ""


def same_initplans(pair):
    """As many subqueries run once."""
    before, after = len(initplans(pair.stock)), len(initplans(pair.loom))
    return "" if before == after else f"{before} InitPlans became {after}"


def same_rows(pair):
    """As many rows come out, and as many are removed by nodes that are in both plans."""
    for before, after in zip(pair.stock, pair.loom):
        first, second = (MEASURED.search(node.figures) for node in (before, after))
        if (first and first.groups()) != (second and second.groups()):
            return f"{before.figures} became {after.figures}"
    removed = {node.title: node.values("Rows Removed by Filter") for node in nodes(pair.stock)}
    for node in nodes(pair.loom):
        text = node.values("Rows Removed by Filter")
        if text and node.title in removed and text != removed[node.title]:
            return f"{node.title}: {text}, not {removed[node.title]}"
    return "" if len(pair.stock) == len(pair.loom) else "other numbers of plans"


def same_operations(pair):
    """No operation is lost."""
    text = "\n".join(engine_lines(pair.loom))
    lost = []
    for name, (node_pattern, engine_pattern) in OPERATIONS.items():
        pattern = re.compile(rf"({node_pattern})\b")
        before, after = (any(pattern.match(node.title) for node in nodes(trees)) for trees in (pair.stock, pair.loom))
        if before and not after and not (engine_pattern and re.search(engine_pattern, text, re.MULTILINE)):
            lost.append(name)
    return ", ".join(lost)


CHECKS = (
    has_engine,
    same_changes,
    same_tables,
    same_conditions,
    same_security,
    same_sorting,
    same_initplans,
    same_rows,
    same_operations,
)


def faults(pair):
    """The names of the checks that two plans fail, with what each says."""
    said = {check.__name__: check(pair) for check in CHECKS}
    return {name: text for name, text in said.items() if text}
