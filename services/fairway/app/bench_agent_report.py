"""The report of the agent's benchmark, for a person."""

from typing import Any


def text(report: dict[str, Any]) -> str:
    """What its start and its work cost, what was counted, the goals."""
    f, c, run = report["figures"], report["counts"], report["run"]
    lines = [
        f"{run['nodes']:,} nodes and {run['pods']:,} pods; reported {c['nodes_at_start']:,} and "
        f"{c['pods_at_start']:,}, {c['nodes_twice']} nodes twice; "
        f"at the end {c['nodes_at_end']:,} and {c['pods_at_end']:,}, "
        f"{c['never_reported']} changes never reported",
        f"start: {f['start_seconds']:.1f} s until all were reported, {f['start_cpu_seconds']:.1f} s of processor time, "
        f"{f['start_rss_peak_mib']:,.0f} MiB at most; {f['start_messages']:.0f} messages, {f['start_mib']:.1f} MiB",
        f"{f['events_per_second']:.0f} pod changes/s: {f['steady_cpu_percent']:.1f} % of a core, "
        f"{report['rss_mib']['agent']:,.0f} MiB, {f['rss_peak_mib']:,.0f} MiB at most",
        f"reports: {f['reports_per_second']:.1f}/s of {f['bytes_per_report']:,.0f} bytes and "
        f"{f['rows_per_report']:.1f} nodes; from a pod's change to its report p50 {f['delay_p50_ms']} ms, "
        f"p99 {f['delay_p99_ms']} ms, the change itself p50 {f['write_p50_ms']} ms, p99 {f['write_p99_ms']} ms",
        "processor time under the pod changes, share of a core:",
    ]
    for name, spent in report["cpu_percent_by_process"].items():
        lines.append(f"  {name:40} {spent:8.1f} % {report['rss_mib'].get(name, 0):8,.0f} MiB")
    lines += [f"goal {name} {goal:g}: {'met' if report['met'][name] else 'missed'}" for name, goal in
              report["goals"].items()]  # fmt: skip
    return "\n".join(lines)
