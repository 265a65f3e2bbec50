"""The report of the benchmark on real Kubernetes, for a person."""

from typing import Any


def text(report: dict[str, Any]) -> str:
    """Rates and latencies, what a job costs by process, what was asked of which server, the goals."""
    f = report["figures"]
    lines = [
        f"{f['jobs_per_second']:,.0f} jobs/s of a burst of {report['run']['jobs']} from the hub into a member; "
        f"p50 {f['burst_p50_ms']:,.0f} ms, p95 {f['burst_p95_ms']:,.0f} ms, p99 {f['burst_p99_ms']:,.0f} ms",
        f"{f['bare_jobs_per_second']:,.0f} jobs/s is what the API servers alone take, with three writes a job: "
        f"ratio {f['ratio']:.2f}; their processor time {f['bare_cpu_ms_per_job']} ms a job",
        f"{report['run']['rate']:g} jobs/s offered: p50 {f['calm_p50_ms']} ms, p95 {f['calm_p95_ms']} ms, "
        f"p99 {f['calm_p99_ms']} ms",
        f"room freed until the waiting job is there: p50 {f['freed_p50_ms']} ms, p99 {f['freed_p99_ms']} ms",
        f"processor time a job: {f['cpu_ms_per_job']} ms in all processes without the benchmark's own",
    ]
    for name, spent in report["cpu_ms_by_process"].items():
        rss = report["rss_mib"].get(name)
        lines.append(f"  {name:40} {spent:8.2f} ms" + (f" {rss:8,.0f} MiB" if rss else ""))
    lines.append("requests a job, the benchmark's own two on the hub among them:")
    for name, asked in report["calls_per_job"].items():
        told = ", ".join(f"{what} {count:g}" for what, count in asked.items())
        lines.append(f"  {name:8} {told or 'none'}")
    lines += [f"goal {name} {goal:g}: {'met' if report['met'][name] else 'missed'}" for name, goal in
              report["goals"].items()]  # fmt: skip
    return "\n".join(lines)
