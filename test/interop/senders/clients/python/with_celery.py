"""Posts an event to each URL in tasks of Celery, without and with what docs/senders/brokers/clients.md sets."""

import json
import os

import requests
from celery import Celery, signals
from celery.exceptions import Reject

app = Celery(broker="memory://")
app.conf.update(
    task_ignore_result=True,
    worker_redirect_stdouts=False,
    # The broker in memory would be asked once a second.
    broker_transport_options={"polling_interval": 0.02},
)
message = {"headers": json.loads(os.environ["HEADERS"]), "data": os.environ["EVENT"]}


@app.task
def plain(url):
    requests.post(url, **message).raise_for_status()


@app.task(bind=True)
def configured(self, url):
    response = requests.post(url, **message)
    if response.status_code == 403:
        raise Reject("no consent", requeue=False)
    if not response.ok:
        wait = int(response.headers.get("Retry-After", 0))
        raise self.retry(countdown=wait)


urls = json.loads(os.environ["URLS"])
outcomes = {}


@signals.task_postrun.connect
def note(args, state, **_):
    if state == "RETRY":
        return
    outcomes[args[0]] = "returns" if state == "SUCCESS" else "fails"
    if len(outcomes) == len(urls["plain"] + urls["configured"]):
        print(json.dumps(outcomes), flush=True)
        # The worker would go on waiting for tasks.
        os._exit(0)


for task, name in [(plain, "plain"), (configured, "configured")]:
    for url in urls[name]:
        task.delay(url)
app.Worker(
    pool="solo", loglevel="CRITICAL", quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True
).start()
