"""Calls a service with the official Python client, over one channel: each call of a folder, and after each a good one.

Messages are bytes that the test has encoded, so that no generated code is needed. Prints a line for each call: its name,
its code, and how many bytes the message and the details of a refusal take.
"""

import pathlib
import sys

import grpc

GOOD = "/recallgate.v1.DiscoveryService/GetCaller"


def call(channel, method, message):
    try:
        channel.unary_unary(method)(message, timeout=30)
        return "OK 0"
    except grpc.RpcError as refused:
        details = [value for name, value in refused.trailing_metadata() or () if name == "grpc-status-details-bin"]
        return f"{refused.code().name} {len(refused.details().encode()) + sum(map(len, details))}"


address, folder = sys.argv[1:]
with grpc.insecure_channel(address, options=[("grpc.max_send_message_length", -1)]) as channel:
    for path in sorted(pathlib.Path(folder).iterdir()):
        method, message = path.read_bytes().split(b"\n", 1)
        print(path.name, call(channel, method.decode(), message))
        print("good", call(channel, GOOD, b""))
