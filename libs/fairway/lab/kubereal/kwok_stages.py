"""How kwok plays the kubelets of one cluster: `stages.yaml` with the cluster's name and the default run time in it."""

import json
from pathlib import Path

_HERE = Path(__file__).parent
_FOR_EVER = "never"


def stages(cluster: str, default_run_ms: int) -> str:
    """kwok's configuration. A pod that may end and does not say when runs for `default_run_ms`; 0 is for ever."""
    run = f"{default_run_ms}ms" if default_run_ms else _FOR_EVER

    def filled(text: str) -> str:
        return text.replace("@CLUSTER@", cluster).replace("@RUN@", run)

    comes = json.dumps(filled((_HERE / "comes.jq").read_text()))
    return filled((_HERE / "stages.yaml").read_text()).replace("@COMES@", comes)
