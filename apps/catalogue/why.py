"""Why a text has its code: each step from the raw text to the rule. Writes nothing."""

from dataclasses import dataclass

from .fingerprints import v1
from .models import Code, PlacementRule, Text
from .placing import live_rules
from .resolve import Seen, code_key, shipped_versions, storable, stored_tool
from .wrappers import peel


@dataclass(frozen=True, slots=True)
class Why:
    """The way of one text to its code."""

    tool: str
    raw: str
    wrappers: tuple[str, ...]  # peeled, the outermost first
    message: str  # what was inside
    masked: str
    structured_code: str
    broad_code: str
    fields: dict[str, str]
    key: str  # fingerprint
    home_key: str  # name of the code that the fingerprint gives
    home: Code | None  # None: no such text has been seen
    version_of: Text | None  # the shipped rewrite that it is
    steps: list[PlacementRule]
    code: Code | None
    is_known: bool  # this very text has been seen


def why(workspace_id: int, tool: str, raw: str) -> Why:
    """Explain a text; the same steps as those of an upload, without a write."""
    tool = stored_tool(tool)
    mark, peeled = v1.fingerprint(tool, raw), peel(raw)
    known = (
        Text.objects.filter(workspace_id=workspace_id, key=mark.text_key)
        .select_related("home", "version_of")
        .first()
    )
    version = known.version_of if known else None
    home = known.home if known else None
    home_key = code_key(tool, mark)
    if known is None:
        found = shipped_versions(workspace_id, [Seen(mark, tool, raw)])
        version = found.get(mark.text_key)
        home = (
            version.home
            if version
            else Code.objects.filter(
                workspace_id=workspace_id, tool=tool, key=home_key
            ).first()
        )
    steps: list[PlacementRule] = []
    code = home
    if home is not None:
        path = live_rules(workspace_id).follow(
            home.pk, storable(mark.masked), raw=storable(raw)
        )
        rules = PlacementRule.objects.select_related("code", "into", "made_by")
        by_pk = rules.in_bulk(path.steps)
        steps = [by_pk[pk] for pk in path.steps]
        code = steps[-1].into if steps else home
    return Why(
        tool=tool,
        raw=raw,
        wrappers=peeled.wrappers,
        message=peeled.message,
        masked=mark.masked,
        structured_code=peeled.structured_code,
        broad_code=peeled.broad_code,
        fields=dict(peeled.fields),
        key=mark.text_key,
        home_key=home.key if home else home_key,
        home=home,
        version_of=version,
        steps=steps,
        code=code,
        is_known=known is not None,
    )
