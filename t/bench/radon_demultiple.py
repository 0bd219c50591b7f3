# needs: numpy
"""What removing multiples does to primaries and multiples that are known: radon by default and with --lsq, and suradon where that is on PATH.

WEIR_GATHERS names SU files of one gather each, corrected for normal moveout, with offsets in their headers; WEIR_Q the curves,
-.3:.6:181 otherwise, and WEIR_MUTE the cut, .05. Eight flat events, and eight with moveouts from the cut to the last curve, are added to a
gather in turn, Ricker wavelets with the strength of the gather around them, but none before a trace begins. Figures are dB: how much of the energy of the flat events is
missing or wrong, and how much of the energy of the others is left, as means over WEIR_DRAWS draws, 5 otherwise.
"""
import os, shutil, subprocess
import numpy as np
from front import workplace

CURVES = os.environ.get("WEIR_Q", "-.3:.6:181")
CUT = float(os.environ.get("WEIR_MUTE", ".05"))
LOW, HIGH, COUNT = (float(v) for v in CURVES.split(":"))


def pipe(command, data=b""):
    return subprocess.run(command, shell=True, check=True, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


class Gather:
    """An SU file as headers, from the low byte up, and traces."""

    def __init__(self, file):
        data = pipe(f"sutoraw '{file}' | rawtosu --endian=little")
        ns, dt = (int(v) for v in np.frombuffer(data[114:118], "<u2"))
        rows = np.frombuffer(data, np.uint8).reshape(-1, 240 + 4 * ns)
        self.heads, self.traces = rows[:, :240], rows[:, 240:].copy().view("<f4").astype(float)
        self.dt, self.x = dt * 1e-6, np.abs(rows[:, 36:40].copy().view("<i4").ravel()).astype(float)
        self.reference = self.x.max()

    def bytes(self, traces):
        return np.concatenate([self.heads, traces.astype("<f4").view(np.uint8)], 1).tobytes()

    def events(self, rng, moveouts):
        """Eight events with the strength of the gather around them."""
        n = self.traces.shape[1]
        t = np.arange(n) * self.dt
        out = np.zeros_like(self.traces)
        for q in moveouts:
            t0 = rng.uniform(.15, .8) * t[-1]
            at = t0 + q * (self.x / self.reference) ** 2
            a = (np.pi * min(30, .2 / self.dt) * (t - at[:, None])) ** 2
            i = int(t0 / self.dt)
            strength = 3 * np.sqrt(np.mean(self.traces[:, max(i - 50, 0):i + 50] ** 2))
            out += strength * rng.choice([-1, 1]) * (1 - 2 * a) * np.exp(-a)
        return np.where(np.cumsum(self.traces != 0, 1) > 0, out, 0)  # a mute stays one


def programs(g):
    radon = f"sutoraw | radon --quiet -q {CURVES} -X {g.reference} --mute={CUT} --subtract"
    out = {"radon": f"{radon} | rawtonpy", "radon --lsq": f"{radon} --lsq | rawtonpy"}
    if shutil.which("suradon"):
        out["suradon"] = (f"suradon choose=1 offref={g.reference} pmin={1e3 * LOW} pmax={1e3 * HIGH} dp={1e3 * (HIGH - LOW) / (COUNT - 1)} "
                          f"pmula={1e3 * CUT} pmulb={1e3 * CUT} f1={.7 * .5 / g.dt if g.dt < .002 else 70} f2={.8 * .5 / g.dt if g.dt < .002 else 80} "
                          "prewhite=0.1 nxmax=2000 | sutoraw | rawtonpy")
    return out


def run(command, g, traces):
    with open("o.npy", "wb") as f:
        f.write(pipe(command, g.bytes(traces)))
    return np.load("o.npy").reshape(traces.shape).astype(float)


def decibels(a, b):
    return 10 * np.log10(np.sum(a ** 2) / np.sum(b ** 2))


files = [os.path.abspath(f) for f in os.environ.get("WEIR_GATHERS", "").split()]
if not files:
    print("not run: WEIR_GATHERS names no gathers")
with workplace():
    for file in files:
        g = Gather(file)
        for program, command in programs(g).items():
            rng, found = np.random.default_rng(1), []
            plain = run(command, g, g.traces)
            for _ in range(int(os.environ.get("WEIR_DRAWS", "5"))):
                flat = g.events(rng, np.zeros(8))
                bent = g.events(rng, rng.uniform(CUT + .1 * (HIGH - CUT), .9 * HIGH, 8))
                found.append((decibels(run(command, g, g.traces + flat) - plain - flat, flat),
                              decibels(run(command, g, g.traces + bent) - plain, bent)))
            print(f"| {os.path.basename(file)}, {len(g.x)} traces, {program} | " + " | ".join(f"{v:.1f}" for v in np.mean(found, 0)) + " |", flush=True)
