#!/bin/sh
# Prints a kubeconfig of the hub for Fairway's processes: of an account of rights.yaml, with a token of thirty days.
#
#   sh deploy/hub/kubeconfig.sh KUBECONFIG [LIFE [ACCOUNT]] > hub.kubeconfig
#
# KUBECONFIG is an administrator's, or one from here: an account may ask for its own token. ACCOUNT is fairway-hub, fairway-gateway,
# fairway-clusters, or fairway, which has the rights of all three; without it, that of KUBECONFIG if it is from here, else fairway.
set -eu
admin=${1:?usage: kubeconfig.sh KUBECONFIG [LIFE [ACCOUNT]]}
look() { kubectl --kubeconfig "$admin" config view --minify --flatten --raw -o "jsonpath={$1}"; }
server=$(look .clusters[0].cluster.server)
authority=$(look .clusters[0].cluster.certificate-authority-data)
account=${3:-$(look .users[0].name)}
case $account in
fairway | fairway-hub | fairway-gateway | fairway-clusters) ;;
*) [ -z "${3:-}" ] || { echo "kubeconfig.sh: rights.yaml has no account $account" >&2; exit 2; }
   account=fairway ;;
esac
token=$(kubectl --kubeconfig "$admin" -n fairway-system create token "$account" --duration="${2:-720h}")
cat <<END
apiVersion: v1
kind: Config
clusters:
- name: hub
  cluster: {server: "$server", certificate-authority-data: "$authority"}
users:
- name: $account
  user: {token: "$token"}
contexts:
- name: hub
  context: {cluster: hub, user: $account}
current-context: hub
END
