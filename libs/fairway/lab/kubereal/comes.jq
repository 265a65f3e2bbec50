# What comes next for a running pod: finish, restart, deadline or nothing; of two times the earlier.
def ms: [scan("([0-9.]+)(ms|s|m|h)") | (.[0] | tonumber) * {"ms": 1, "s": 1000, "m": 60000, "h": 3600000}[.[1]]] | add // infinite;
def names: . // "" | gsub(" "; "") | split(",");
(.metadata.annotations // {}) as $said
| .spec.restartPolicy as $policy
| ($said["fairway.test/run-for"] // (if $policy == "Always" then "never" else "@RUN@" end) | ms) as $run
| (if .spec.activeDeadlineSeconds then
     ([(.status.startTime | fromdate) + .spec.activeDeadlineSeconds - now, 0] | max) * 1000
   else infinite end) as $deadline
| (($said["fairway.test/exit-code"] // "0") == "0"
   and ($said["fairway.test/fail-in-cluster"] | names | all(. != "@CLUSTER@"))) as $fine
| if $deadline == infinite and $run == infinite then "nothing"
  elif $deadline <= $run then "deadline"
  elif $policy == "Never" or ($policy == "OnFailure" and $fine) then "finish"
  else "restart" end
