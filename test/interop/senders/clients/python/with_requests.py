"""Posts an event to each URL with requests, as it comes and as docs/senders/brokers/clients.md sets it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry


def plain(url, message):
    requests.post(url, **message)


def configured(url, message):
    with requests.Session() as session:
        retry = Retry(4, backoff_factor=0.2, allowed_methods=None, status_forcelist=[429, 502, 503, 504])
        session.mount("http://", HTTPAdapter(max_retries=retry))
        session.post(url, **message).raise_for_status()


def outcome(way, url):
    try:
        way(url, {"headers": json.loads(os.environ["HEADERS"]), "data": os.environ["EVENT"]})
        return "returns"
    except requests.RequestException:
        return "fails"


with ThreadPoolExecutor(16) as pool:
    outcomes = {
        url: pool.submit(outcome, way, url)
        for way, name in [(plain, "plain"), (configured, "configured")]
        for url in json.loads(os.environ["URLS"])[name]
    }
print(json.dumps({url: each.result() for url, each in outcomes.items()}))
