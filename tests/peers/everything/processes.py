"""The processes that a Python client starts."""

import anyio


def capture_processes() -> list:
    """Records the processes that the SDK opens, because it does not report how the server ended."""
    processes = []
    open_process = anyio.open_process

    async def opening(*arguments, **options):
        process = await open_process(*arguments, **options)
        processes.append(process)
        return process

    anyio.open_process = opening
    return processes
