"""AVX-512: the native tests in a small Linux that Bochs boots as an Ice Lake.

Bochs runs some twenty million instructions per second, so only tests that compare instruction sets
are run, with little data.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from scripts.emulate.tools import BUILD, ROOT, MissingError, build, need

KERNEL = "linux-image-cloud-amd64"
BOOT_LOADER = "/usr/lib/ISOLINUX/isolinux.bin"
BOOT_LIBRARY = "/usr/lib/syslinux/modules/bios/ldlinux.c32"
TESTS = "utf8 fingerprint weighted kernels json set_join"
ENDED = "native_tests ended with status"
MINUTES = 20

# Features of which Bochs 2.7 tells the kernel wrong things: the sizes of XSAVEC, XSAVES and PKU
# areas, after which the kernel turns AVX off, and FSRM without ERMS, with which its memmove runs
# past the end. The numbers are 32 times the word of X86_FEATURE_* plus the bit.
HIDDEN = "321,323,515,580"

BOCHS = """\
config_interface: textconfig
display_library: rfb, options="timeout=0"
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
speaker: enabled=1, mode=none
megs: 512
cpu: model=corei7_icelake_u, count=1, ips=50000000, reset_on_triple_fault=0
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path={disk}, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={serial}
log: {log}
panic: action=fatal
error: action=ignore
info: action=ignore
clock: sync=none
"""

MENU = """\
default linux
label linux
 kernel /linux
 append initrd=/initrd console=ttyS0 loglevel=3 mitigations=off tsc=reliable lsm= \
clearcpuid={hidden} -- --quick {tests}
"""


def run() -> bool:
    """Whether all tests pass, with AVX-512 among their instruction sets."""
    need(
        {
            "bochs-bin": "bochs",
            "genisoimage": "genisoimage",
            BOOT_LOADER: "isolinux",
            BOOT_LIBRARY: "syslinux-common",
        }
    )
    folder = BUILD / "avx512"
    build(folder, [], ["native_tests"])
    init = folder / "init"
    source = ROOT / "native" / "emulate" / "init.cpp"
    subprocess.run(["c++", "-O1", "-static", source, "-o", init], check=True)
    linux = _kernel(BUILD / "linux")
    with tempfile.TemporaryDirectory() as made:
        disk = _disk(Path(made), linux, init, folder / "native_tests")
        said = _boot(Path(made), disk)
    print(said)
    return f"{ENDED} 0." in said and " avx512\n" in said.replace("\r", "")


def _kernel(folder: Path) -> Path:
    """A Linux of Debian, unpacked and not installed."""
    found = sorted(folder.glob("boot/vmlinuz-*"))
    if found:
        return found[-1]
    folder.mkdir(parents=True, exist_ok=True)
    depends = subprocess.run(
        ["apt-cache", "depends", KERNEL], check=False, capture_output=True, text=True
    )
    package = re.search(r"Depends: (linux-image-\S+)", depends.stdout)
    if package is None:
        raise MissingError(f"needs the package {KERNEL}, which apt does not know: apt-get update.")
    subprocess.run(["apt-get", "download", package[1]], check=True, cwd=folder)
    for archive in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    return next(folder.glob("boot/vmlinuz-*"))


def _disk(made: Path, linux: Path, init: Path, tests: Path) -> Path:
    """A bootable CD with the kernel, the first process and the tests."""
    files = made / "files"
    (files / "isolinux").mkdir(parents=True)
    for source in (BOOT_LOADER, BOOT_LIBRARY):
        shutil.copy(source, files / "isolinux")
    shutil.copy(linux, files / "linux")
    menu = MENU.format(hidden=HIDDEN, tests=TESTS)
    (files / "isolinux" / "isolinux.cfg").write_text(menu, encoding="utf-8")
    (files / "initrd").write_bytes(
        _packed("dev", 0o40755)
        + _packed("tmp", 0o41777)
        + _packed("dev/console", 0o20600, device=(5, 1))
        + _packed("init", 0o100755, init.read_bytes())
        + _packed("native_tests", 0o100755, tests.read_bytes())
        + _packed("TRAILER!!!", 0)
    )
    disk = made / "disk.iso"
    boot = ["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot"]
    subprocess.run(
        [
            "genisoimage",
            "-quiet",
            "-o",
            disk,
            *boot,
            "-boot-load-size",
            "4",
            "-boot-info-table",
            files,
        ],
        check=True,
    )
    return disk


def _packed(name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """A file of an initramfs, in the newc format of cpio."""
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def _boot(made: Path, disk: Path) -> str:
    """What the machine writes to its serial port until the tests end."""
    serial = made / "serial"
    settings, begin = made / "bochsrc", made / "begin"
    settings.write_text(BOCHS.format(disk=disk, serial=serial, log=made / "log"), encoding="utf-8")
    begin.write_text("c\n", encoding="utf-8")  # Debian's Bochs begins in its debugger
    print("avx512: booting Linux in Bochs")
    machine = subprocess.Popen(
        ["bochs-bin", "-q", "-f", settings, "-rc", begin],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    said = ""
    deadline = time.monotonic() + 60 * MINUTES
    while (
        re.search(rf"{ENDED} -?\d+\.", said) is None
        and "Kernel panic" not in said
        and machine.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(1)
        said = serial.read_text(encoding="utf-8", errors="replace") if serial.exists() else ""
    machine.kill()
    machine.wait()
    return said
