"""The catalogue as files that tools are built with, at stable addresses."""

import hashlib
import json
from collections.abc import Callable
from typing import Final, NamedTuple

from django.http import Http404, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required

from . import queries
from .exports.catalogue import Catalogue, content_hash
from .exports.json_form import catalogue_schema, to_json
from .exports.python_module import to_python
from .exports.typescript_module import to_typescript
from .exports.yaml_form import to_yaml


class Form(NamedTuple):
    """One file that the catalogue is exported as."""

    content_type: str
    write: Callable[[Catalogue], str]
    is_data: bool = True  # False: our own code is in it too


def _schema(_: Catalogue) -> str:
    return json.dumps(catalogue_schema(), indent=2) + "\n"


FORMS: Final = {
    "catalogue.json": Form("application/json", to_json),
    "catalogue.yaml": Form("application/yaml", to_yaml),
    "errata_catalogue.py": Form("text/x-python; charset=utf-8", to_python, False),
    "errata_catalogue.ts": Form("text/plain; charset=utf-8", to_typescript, False),
    "catalogue.schema.json": Form("application/schema+json", _schema, False),
}


@member_required()
@require_GET
def export(request: MemberRequest, form: str) -> HttpResponse:
    """One file of the catalogue; 304 for a client that has this content already."""
    if form not in FORMS:
        raise Http404(f"There is no export {form}. Take one of: {', '.join(FORMS)}.")
    chosen = FORMS[form]
    catalogue = queries.export_of(request.workspace).catalogue
    body = chosen.write(catalogue).encode()
    mark = content_hash(catalogue)
    if not chosen.is_data:  # a new release of Errata changes it without the content
        mark += "-" + hashlib.sha256(body).hexdigest()[:12]
    response = HttpResponse(body, content_type=chosen.content_type)
    response["Content-Disposition"] = f'attachment; filename="{form}"'
    response["ETag"] = etag = f'"{mark}"'
    response["Cache-Control"] = "private, no-cache"
    answer = get_conditional_response(request, etag=etag, response=response)
    assert isinstance(answer, HttpResponse)
    return answer
