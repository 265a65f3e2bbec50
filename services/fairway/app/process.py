"""A process: some services, alive until it is told to end. FastStream keeps its life, its health and its metrics."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import structlog
from faststream.asgi import AsgiFastStream
from faststream.nats import NatsBroker
from prometheus_client import make_asgi_app
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from fairway.app.settings import Settings
from fairway.app.wiring import Parts, answer_places, build
from fairway.gateway.run import check_address

log = structlog.get_logger()
