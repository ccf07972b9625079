import hashlib
import json
from datetime import UTC

from django.db import migrations, models

from projects.audit import digest
from projects.audit_guard import install, remove

CHUNK = 500


def without_key(entry):
    """The hash of an entry as it was before it had a key."""
    content = {
        "chain": entry.chain,
        "number": entry.number,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor,
        "action": entry.action,
        "object": [entry.object_type, entry.object_id, entry.label, entry.record_id],
        "old": entry.old,
        "new": entry.new,
        "reason": entry.reason,
        "previous": entry.previous,
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sign_entries(apps, editor):
    """Sign what holds; an entry that was forged before keeps its hash, so it is found as ever."""
    entries = apps.get_model("projects", "AuditEntry").objects.order_by("chain", "number")
    remove(editor.connection)
    old, new, changed = {}, {}, []
    for entry in entries.iterator(chunk_size=CHUNK):
        was, chain = entry.hash, entry.chain
        if entry.previous == old.get(chain, "") and was == without_key(entry):
            entry.previous = new.get(chain, "")
            entry.hash = digest(entry)
            changed.append(entry)
        old[chain], new[chain] = was, entry.hash
        if len(changed) == CHUNK:
            entries.bulk_update(changed, ["previous", "hash"])
            changed = []
    entries.bulk_update(changed, ["previous", "hash"])
    # Who remembers how a chain ended reads it again.
    apps.get_model("projects", "AuditHead").objects.update(claim=None)
    install(editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0006_api_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='audithead',
            name='anchored',
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.RunPython(sign_entries, migrations.RunPython.noop),
    ]
