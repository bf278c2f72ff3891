import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0003_fill_home")]

    operations = [
        migrations.AlterField(
            model_name="text",
            name="home",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="home_texts",
                to="catalogue.code",
            ),
        ),
    ]
