// Command kube is etcd, the Kubernetes control plane and kubectl in one program. It does what the name says that it is
// called by; called `kube`, its first argument takes the place of the name. One binary, because they share nearly all
// of their code: five would take five times the time to link, and the room.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func command(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return manager.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand()
	}
	return nil
}

func main() {
	name := filepath.Base(os.Args[0])
	if name == "kube" && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	if chosen := command(name); chosen != nil {
		os.Exit(cli.Run(chosen))
	}
	fmt.Fprintln(os.Stderr, "kube etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [flags]")
	os.Exit(2)
}
