"""Objects that make a job at set times: CronJob, CronWorkflow, ScheduledSparkApplication."""
