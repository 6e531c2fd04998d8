"""The command of the conformance kit: a sender made of the package cloudevents-python, as its text shows it."""

import sys
import uuid

import cloudevents
from cloudevents.webhook import WebhookDestination

url, events = sys.argv[1], int(sys.argv[2])
destination = WebhookDestination("sender.example.com", url)
for _ in range(events):
    try:
        destination.send(cloudevents.create("com.example.test", str(uuid.uuid4()), "urn:example:sender"))
    except Exception as error:
        print(error)
