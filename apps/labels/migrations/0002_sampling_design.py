"""Keep what the estimates need of how a pair was drawn; 0 where nobody kept it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labels", "0001_first_tables"),
    ]

    operations = [
        migrations.AddField(
            model_name="pair",
            name="stratum_number",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="pair",
            name="stratum_size",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="pair",
            name="stratum_drawn",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="pair",
            name="errors_in_run",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddConstraint(
            model_name="pair",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("errors_in_run__gte", 0),
                    ("stratum_drawn__gte", 0),
                    ("stratum_drawn__lte", models.F("stratum_size")),
                ),
                name="pair_stratum_is_no_smaller_than_drawn",
            ),
        ),
    ]
