#!/bin/sh
# Prints a kubeconfig of the hub for Fairway's services: the account of rights.yaml, with a token of thirty days.
#
#   sh deploy/hub/kubeconfig.sh ADMIN-KUBECONFIG [LIFE] > hub.kubeconfig
#
# The account may ask for its own token, so a kubeconfig from here does for ADMIN-KUBECONFIG the next time.
set -eu
admin=${1:?usage: kubeconfig.sh KUBECONFIG [LIFE]}
look() { kubectl --kubeconfig "$admin" config view --minify --flatten --raw -o "jsonpath={.clusters[0].cluster.$1}"; }
server=$(look server)
authority=$(look certificate-authority-data)
token=$(kubectl --kubeconfig "$admin" -n fairway-system create token fairway --duration="${2:-720h}")
cat <<END
apiVersion: v1
kind: Config
clusters:
- name: hub
  cluster: {server: "$server", certificate-authority-data: "$authority"}
users:
- name: fairway
  user: {token: "$token"}
contexts:
- name: hub
  context: {cluster: hub, user: fairway}
current-context: hub
END
