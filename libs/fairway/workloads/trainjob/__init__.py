"""TrainJob of Kubeflow's trainer: a few lines and the runtime that they name, which together are a JobSet. Pure."""
