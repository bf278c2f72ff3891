"""The catalogue as one TypeScript module without dependencies (ES2022, strict).

Made of the `runtime_*.ts` files beside this one, which compile as they stand: their
imports of each other go, and the catalogue's data is put in.
"""

import json
import re
from pathlib import Path
from typing import Final

from apps.rewrites.exports.catalogue import Catalogue, with_hash

PARTS: Final = (
    "runtime_template.ts",
    "runtime_guard.ts",
    "runtime_renderings.ts",
    "runtime_stores.ts",
    "runtime_operations.ts",
)
_FOLDER: Final = Path(__file__).parent
_BEGIN: Final = "// <catalogue>\n"
_END: Final = "// </catalogue>\n"
_IMPORT = re.compile(r'^import [^;]*? from "\./[a-z_]+\.ts";\n', re.MULTILINE)


def to_typescript(catalogue: Catalogue) -> str:
    """The module's source."""
    parts = [(_FOLDER / part).read_text(encoding="utf-8") for part in PARTS]
    text = "\n".join(_IMPORT.sub("", part).strip("\n") + "\n" for part in parts)
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    data = with_hash(catalogue)
    # ASCII only: in a script U+2028 would end the line. A key `__proto__` that is not
    # computed would set the object's prototype.
    value = json.dumps(data, indent=2, ensure_ascii=True)
    value = value.replace('"__proto__":', '["__proto__"]:')
    head = f"// Catalogue {json.dumps(data['name'])} {json.dumps(data['version'])},"
    return (
        f"{head} {str(data['content_hash'])[:12]}. Made by Errata.\n{before}"
        f"export const CATALOGUE: Catalogue = {value};\n{after}"
    )
