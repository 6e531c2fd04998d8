"""Frameworks as they come: a route for POST and nothing for OPTIONS."""

import bottle
import flask
from aiohttp import web
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from django.http import HttpResponse
from django.urls import path
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from fastapi import FastAPI, Response

flask_app = flask.Flask("plain")


@flask_app.post("/events")
def receive():
    return "", 204


sdk_app = flask.Flask("sdk")


@sdk_app.post("/events")
def receive_event():
    from_http_event(HTTPMessage(dict(flask.request.headers), flask.request.get_data()))
    return "", 204


fastapi_app = FastAPI()


@fastapi_app.post("/events")
async def receive_async():
    return Response(status_code=204)


bottle_app = bottle.Bottle()


@bottle_app.post("/events")
def receive_in_bottle():
    return bottle.HTTPResponse(status=204)


async def receive_in_aiohttp(_request):
    return web.Response(status=204)


aiohttp_app = web.Application()
aiohttp_app.router.add_post("/events", receive_in_aiohttp)


@csrf_exempt
@require_POST
def django_function(_request):
    return HttpResponse(status=204)


class DjangoView(View):
    def post(self, _request):
        return HttpResponse(status=204)


django_routes = [
    path("function", django_function),
    path("events", csrf_exempt(DjangoView.as_view())),
]
