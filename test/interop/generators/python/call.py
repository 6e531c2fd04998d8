import json
import os

from client import AuthenticatedClient
from client.api.feed import list_changes
from client.api.grants import list_grants
from client.api.matching import match_event
from client.models import CloudEvent, CloudEventSpecversion, ListGrantsState, MatchResult, PlainCredential

registry = AuthenticatedClient(base_url=os.environ["REGISTRY"], token=os.environ["TOKEN"])
event = CloudEvent(
    specversion=CloudEventSpecversion.VALUE_0, id="1", source="urn:example:a", type_=os.environ["TYPE"]
)
matched = match_event.sync(client=registry, body=event)
listed = list_grants.sync(client=registry, state=ListGrantsState.LIVE)
followed = list_changes.sync(client=registry, after=os.environ["CURSOR"])
assert isinstance(matched, MatchResult) and isinstance(listed, list), (matched, listed)


def rate_of(thing):
    return thing.allowedrate if isinstance(thing.allowedrate, int) else thing.allowedrate.value


def secret_of(to):
    return to.sinkcredential.secret if isinstance(to.sinkcredential, PlainCredential) else None


sinks = [[to.sink, rate_of(to), secret_of(to), to.contentmode] for to in matched.sinks]
grants = [[grant.sink, rate_of(grant), grant.state] for grant in listed]
changes = [change.kind for change in followed.changes]
print(json.dumps({"sinks": sinks, "grants": grants, "changes": changes}))
