"""Receives traces and metrics by OTLP over HTTP, for one test.

Messages are decoded by the official package `opentelemetry-proto`. Names of attributes and metrics are
judged by the constants of `opentelemetry-semantic-conventions`.

Prints its port, then one line of JSON for each span and each metric. Ends when its input does.
"""

import importlib
import json
import pkgutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import opentelemetry.semconv._incubating.attributes as unstable
import opentelemetry.semconv._incubating.metrics as metrics
import opentelemetry.semconv.attributes as stable
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def constants(package):
    """All texts that the modules of a package define."""
    found = set()
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        found |= {it for name, it in vars(loaded).items() if name.isupper() and isinstance(it, str)}
    return found


ATTRIBUTES = constants(stable) | constants(unstable)
METRICS = constants(metrics)
PRINTING = threading.Lock()


def show(**line):
    with PRINTING:
        print(json.dumps(line), flush=True)


def values(attributes):
    """Attributes as an object. Those that the conventions do not name are reported."""
    shown = {}
    for attribute in attributes:
        if attribute.key not in ATTRIBUTES:
            show(unknown=attribute.key)
        kind = attribute.value.WhichOneof("value")
        shown[attribute.key] = getattr(attribute.value, kind)
    return shown


def take_traces(body):
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = values(resource.resource.attributes).get("service.name")
        for scope in resource.scope_spans:
            for span in scope.spans:
                show(
                    span=span.name,
                    kind=span.kind,
                    service=service,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    attributes=values(span.attributes),
                )
    return ExportTraceServiceResponse()


def take_metrics(body):
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                if metric.name not in METRICS:
                    show(unknown=metric.name)
                for point in metric.histogram.data_points:
                    show(
                        metric=metric.name,
                        unit=metric.unit,
                        count=point.count,
                        bounds=list(point.explicit_bounds),
                        attributes=values(point.attributes),
                    )
    return ExportMetricsServiceResponse()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        take = {"/v1/traces": take_traces, "/v1/metrics": take_metrics}.get(self.path)
        is_expected = take and self.headers["Content-Type"] == "application/x-protobuf"
        answer = take(body).SerializeToString() if is_expected else b""
        self.send_response(200 if is_expected else 400)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
