"""Checks each case of the file that it is given, with the code of the documentation."""

import base64
import json
import os
import sys

import jwt

import secret
import shown

shown.DIRECTORIES["eventemitter.example.com"] = os.environ["DIRECTORY"]
shown.DIRECTORIES["down.example.com"] = os.environ["DIRECTORY"] + "down"


def judge(case):
    body = base64.b64decode(case["body"])
    headers = case["headers"]
    if case["kind"] == "secret":
        return secret.verify_secret(case["secret"], headers, body)
    if case["kind"] == "grant":
        key = jwt.PyJWKClient(os.environ["KEYS"]).get_signing_key_from_jwt(case["token"]).key
        if jwt.get_unverified_header(case["token"])["typ"] != "assent-grant+jwt":
            raise ValueError("no grant")
        return jwt.decode(case["token"], key, ["EdDSA"], audience=case["audience"], issuer=case["issuer"])
    return shown.verify(case["method"], case["url"], headers, body)


for line in open(sys.argv[1]):
    try:
        judge(json.loads(line))
        print("ok")
    except shown.KeysUnavailable:
        print("unavailable")
    except Exception as error:
        print("refused", str(error).replace("\n", " "))
