"""Reads requests from standard input, one a line, and writes for each whether the libraries accept its signatures."""

import base64
import datetime
import json
import sys
from types import SimpleNamespace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from standardwebhooks import Webhook

COVERED = ['"@method"', '"@authority"', '"@target-uri"', '"webhook-request-origin"']


class Keys(HTTPSignatureKeyResolver):
    def __init__(self, keys):
        self.keys = keys

    def resolve_public_key(self, key_id):
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(self.keys[key_id] + "="))


def check(request):
    body = base64.b64decode(request["body"]) if "body" in request else None
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys(request["keys"]))
    message = SimpleNamespace(method=request["method"], url=request["url"], headers=request["headers"])
    age = datetime.timedelta(seconds=60)
    verifier.verify(message, max_age=age, expect_tag="web-bot-auth", require_components=COVERED, body=body)
    if "secret" in request:
        Webhook(request["secret"]).verify(body, request["headers"])


for line in sys.stdin:
    request = json.loads(line)
    fault = None
    try:
        check(request)
    except Exception as error:
        fault = repr(error)
    print(json.dumps({"id": request["id"], "fault": fault}), flush=True)
