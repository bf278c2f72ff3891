from django.db import migrations

# Until now a text stood at the code of its fingerprint. A code that was seen in a
# result is not made of the tool's name.
FILL = """
    UPDATE catalogue_text t
    SET home_id = t.code_id,
        is_coded = t.origin = 'seen' AND t.version_of_id IS NULL
            AND left(c.key, length(left(c.tool, 90)) + 1) <> left(c.tool, 90) || '.'
    FROM catalogue_code c WHERE c.id = t.code_id AND t.home_id IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0002_placement")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
