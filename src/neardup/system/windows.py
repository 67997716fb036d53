"""The calls of Windows that Python's library does not offer, by ctypes."""

from __future__ import annotations

import ctypes
import msvcrt
import sys
from ctypes import wintypes

assert sys.platform == "win32"

_LOCK_EXCLUSIVE_AT_ONCE = 0x2 | 0x1  # LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY
_LOCK_VIOLATION = 33  # ERROR_LOCK_VIOLATION
_IO_PENDING = 997  # ERROR_IO_PENDING
_SET_SPARSE = 0x900C4  # FSCTL_SET_SPARSE
_NO_SUCH_SIZE = 0xFFFFFFFF  # INVALID_FILE_SIZE
_LOCKED_PLACE = (1 << 62) - 1  # beyond the end of every file

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p),
        ("internal_high", ctypes.c_void_p),
        ("offset", wintypes.DWORD),
        ("offset_high", wintypes.DWORD),
        ("event", wintypes.HANDLE),
    )


class _MemoryCounters(ctypes.Structure):
    _fields_ = (
        ("cb", wintypes.DWORD),
        ("page_faults", wintypes.DWORD),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        ("peak_paged_pool", ctypes.c_size_t),
        ("paged_pool", ctypes.c_size_t),
        ("peak_nonpaged_pool", ctypes.c_size_t),
        ("nonpaged_pool", ctypes.c_size_t),
        ("pagefile", ctypes.c_size_t),
        ("peak_pagefile", ctypes.c_size_t),
    )


_kernel.LockFileEx.argtypes = (
    wintypes.HANDLE,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.DWORD,
    ctypes.POINTER(_Overlapped),
)
_kernel.UnlockFileEx.argtypes = (
    wintypes.HANDLE,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.DWORD,
    ctypes.POINTER(_Overlapped),
)
_kernel.GetCurrentProcess.restype = wintypes.HANDLE
_kernel.K32GetProcessMemoryInfo.argtypes = (
    wintypes.HANDLE,
    ctypes.POINTER(_MemoryCounters),
    wintypes.DWORD,
)
_kernel.DeviceIoControl.argtypes = (
    wintypes.HANDLE,
    wintypes.DWORD,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.POINTER(wintypes.DWORD),
    ctypes.c_void_p,
)
_kernel.GetCompressedFileSizeW.argtypes = (wintypes.LPCWSTR, ctypes.POINTER(wintypes.DWORD))
_kernel.GetCompressedFileSizeW.restype = wintypes.DWORD


def try_lock(descriptor: int) -> bool:
    """Lock a byte beyond the end of a file; False if it is locked by another descriptor."""
    place = _place()
    done = _kernel.LockFileEx(
        msvcrt.get_osfhandle(descriptor), _LOCK_EXCLUSIVE_AT_ONCE, 0, 1, 0, ctypes.byref(place)
    )
    if done:
        return True
    code = ctypes.get_last_error()
    if code in (_LOCK_VIOLATION, _IO_PENDING):
        return False
    raise ctypes.WinError(code)


def unlock(descriptor: int) -> None:
    """End the lock of `try_lock`."""
    place = _place()
    handle = msvcrt.get_osfhandle(descriptor)
    if not _kernel.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(place)):
        raise ctypes.WinError(ctypes.get_last_error())


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    counters = _MemoryCounters()
    counters.cb = ctypes.sizeof(counters)
    process = _kernel.GetCurrentProcess()
    if not _kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb):
        raise ctypes.WinError(ctypes.get_last_error())
    return int(counters.peak_working_set)


def make_sparse(descriptor: int) -> bool:
    """Let the unwritten parts of a file take no space; False if the file system cannot."""
    handle, returned = msvcrt.get_osfhandle(descriptor), wintypes.DWORD()
    return bool(
        _kernel.DeviceIoControl(handle, _SET_SPARSE, None, 0, None, 0, ctypes.byref(returned), None)
    )


def allocated_bytes(path: str) -> int:
    """The space that a file takes on disk: less than its size if it is sparse."""
    high = wintypes.DWORD()
    ctypes.set_last_error(0)
    low = _kernel.GetCompressedFileSizeW(path, ctypes.byref(high))
    code = ctypes.get_last_error()
    if low == _NO_SUCH_SIZE and code:
        raise ctypes.WinError(code)
    return int(high.value << 32 | low)


def _place() -> _Overlapped:
    return _Overlapped(offset=_LOCKED_PLACE & 0xFFFFFFFF, offset_high=_LOCKED_PLACE >> 32)
