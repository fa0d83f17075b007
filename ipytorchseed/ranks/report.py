"""The comparison of ranks as text, HTML and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from msgspec.structs import asdict

from ipytorchseed.ranks.causes import describe, list_ranks
from ipytorchseed.ranks.judging import Finding, Judgement, Row
from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.values import pick, short_digest, write_json
from ipytorchseed.render.view import View

# The maximum number of ranks with a column each. If there are more, equal ranks share a line.
_COLUMNS = 5


class RanksView(View):
    """The table and text that compare several ranks.

    Args:
        judgement: The comparison.
        notes: Further remarks, each as a clause.
    """

    template = "ranks"

    def __init__(self, judgement: Judgement, notes: Sequence[str] = ()) -> None:
        self.findings, self.rows = judgement.findings, judgement.rows
        self.ranks = sorted(rank.rank for rank in judgement.ranks)
        self._steps = judgement.steps
        self._judged = judgement
        self._notes = notes

    @property
    def alike(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    @property
    def headline(self) -> str:
        """The answer in a sentence: the first finding, and later differing parameters."""
        if not self.ranks:
            return "There is no record of any rank."
        if len(self.ranks) == 1:
            return f"Only rank {self.ranks[0]} has a record: nothing to compare."
        if not self.findings:
            steps = min(self._steps.values())
            when = "" if self._judged.single else f", to step {steps:,}"
            equal = all(len(row.groups) == 1 for row in self.rows)
            how = "are alike" if equal else "differ only where they should"
            return f"All {len(self.ranks)} ranks {how}{when}."
        said, then = str(self.findings[0]), self._then
        if then is not None:
            parted, _, where = then.message.partition(",")
            said += f"; {parted}{f' at {then.when}' if then.step else ''},{where}"
        begin = said[0] if said.startswith(self.findings[0].name) else said[0].upper()
        return f"{begin}{said[1:]}."

    @property
    def _then(self) -> Finding | None:
        """A later finding about parameters, or else buffers, that the headline names."""
        first, *others = self.findings
        found = [each for kind in ("parameters", "buffers") for each in others if each.kind == kind]
        return found[0] if found and first.kind in {"source", "setting"} else None

    @property
    def others(self) -> list[Finding]:
        """The findings that the headline does not mention."""
        return [each for each in self.findings[1:] if each is not self._then]

    @property
    def notes(self) -> list[str]:
        """Further remarks, each as a sentence."""
        said = [*self._notes]
        if self._judged.unseen:
            said.append(f"there is no record of {list_ranks(self._judged.unseen)}")
        if self._judged.distinct:
            names = ", ".join(self._judged.distinct)
            said.append(f"distinct in all ranks, assumed to be on purpose: {names}")
        if self._judged.synchronised:
            said.append("buffers were not compared: each forward pass copies them from rank 0")
        ends = {*self._steps.values()}
        if len(ends) > 1:
            last = max(ends)
            short = [each for each in self.ranks if self._steps[each] < last]
            seen = ", ".join(f"{self._steps[each]:,}" for each in short)
            verb = "was" if len(short) == 1 else "were"
            said.append(f"{list_ranks(short)} {verb} last seen at step {seen}, others at {last:,}")
        return [f"{each[0].upper()}{each[1:]}." for each in said]

    def verdict(self, row: Row) -> str:
        """Return a phrase that says which ranks are equal in a row."""
        groups = row.groups
        if len(groups) == 1:
            return "alike" if row.expected != "distinct" else "alike, expected distinct"
        if len(groups) == len(row.values):
            return "distinct" if row.expected != "same" else "distinct, expected same"
        if len(groups[0]) > len(groups[1]):
            return f"{list_ranks(sorted(chain(*groups[1:])))} apart"
        return f"{len(groups)} groups"

    def breaks(self, row: Row) -> bool:
        """Return whether a finding is about a row."""
        if row.kind == "setting":
            return True  # only settings with a finding have a row
        told = [(each.kind, each.name) for each in self.findings if each.kind == row.kind]
        return any(row.name in each for each in told)

    @staticmethod
    def shown(row: Row, rank: int) -> str:
        """Return the text for the value of a rank in a row."""
        value = row.values.get(rank)
        return value if value is not None and row.kind == "setting" else short_digest(value)

    def odd(self, row: Row, rank: int) -> bool:
        """Return whether to highlight a rank's value in a row."""
        return self.breaks(row) and (len(row.groups) == 1 or rank not in row.groups[0])

    def text(self) -> str:
        """Return the comparison as text for a terminal of 80 columns."""
        parts = [wrap(self.headline, first="")]
        parts += [wrap(str(each), first="  ") for each in self.others]
        if self.rows and len(self.ranks) > 1:
            parts += ["", self._table()]
        if self.notes:
            parts += ["", *(wrap(note, first="") for note in self.notes)]
        return "\n".join(parts)

    def _table(self) -> str:
        """Return the table, with a column for each rank or a line for each group."""
        if len(self.ranks) <= _COLUMNS:
            titles = ["", *(f"rank {rank}" for rank in self.ranks), " "]
            rows = [
                (row.name, *(self.shown(row, rank) for rank in self.ranks), self.verdict(row))
                for row in self.rows
            ]
        else:
            titles = ["", "State", "Ranks"]
            rows = [
                (row.name if not place else "", self.shown(row, group[0]), list_ranks(group))
                for row in self.rows
                for place, group in enumerate(row.groups)
            ]
        return draw_table("", {title: {"overflow": "fold"} for title in titles}, rows)

    def to_json(self) -> str:
        """Return the comparison as one line of JSON."""
        steps = {each.rank: self._steps[each.rank] for each in self._judged.ranks if each.every}
        ranks = [pick(each, "rank", "world", "host") for each in self._judged.ranks]
        for rank in ranks:
            rank["steps"] = steps.get(rank["rank"])
        rows = [
            {**asdict(each), "alike": each.groups, "ok": not self.breaks(each)}
            for each in self.rows
        ]
        findings = [asdict(each) for each in self.findings]
        for told in findings:
            site = told.pop("site")
            told["by"] = site and {**pick(site, "file", "line"), "what": describe(site)}
        told = pick(self, "alike", "headline", "notes")
        return write_json(**told, ranks=ranks, findings=findings, rows=rows)
