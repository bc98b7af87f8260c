// Identity of jobs in containers, from pretended /proc folders.
#include "machine/container.h"

#include <gtest/gtest.h>

#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

using std::string_literals::operator""s;

const std::string kId(64, 'a');
const std::string kUid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const std::string kUidOfSystemd = "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0";

void expect_pod(const std::string& cgroup, const std::string& uid = kUid) {
  const ContainerPath path = parse_container_path(cgroup);
  EXPECT_EQ(path.pod_uid, uid) << cgroup;
  EXPECT_EQ(path.container_id, kId) << cgroup;
}

TEST(ContainerPath, ReadsPodsOfSystemdDriver) {
  const std::string slice = "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" +
                            kUidOfSystemd + ".slice/";
  expect_pod(slice + "cri-containerd-" + kId + ".scope\n");
  expect_pod(slice + "crio-" + kId + ".scope\n");
  expect_pod(slice + "docker-" + kId + ".scope\n");
  expect_pod(slice + "crio-" + kId + ".scope/container\n");
  expect_pod("0::/kubepods.slice/kubepods-pod" + kUidOfSystemd + ".slice/cri-containerd-" + kId +
             ".scope\n");
}

TEST(ContainerPath, ReadsPodsOfCgroupfsDriver) {
  expect_pod("0::/kubepods/besteffort/pod" + kUid + "/" + kId + "\n");
  expect_pod("0::/kubepods/pod" + kUid + "/" + kId + "\n");
  expect_pod("0::/kubepods/burstable/pod" + kUid + "/crio-" + kId + "\n");
}

TEST(ContainerPath, ReadsVersion1) {
  expect_pod("12:pids:/kubepods/burstable/pod" + kUid + "/" + kId +
             "\n4:cpu,cpuacct:/kubepods/burstable/pod" + kUid + "/" + kId + "\n1:name=systemd:/\n");
  expect_pod("4:cpu,cpuacct:/system.slice/containerd.service/kubepods-burstable-pod" +
             kUidOfSystemd + ".slice:cri-containerd:" + kId + "\n");
}

TEST(ContainerPath, ReadsPathsRelativeToOwnNamespace) {
  expect_pod("0::/../../kubepods-besteffort-pod" + kUidOfSystemd + ".slice/cri-containerd-" + kId +
             ".scope\n");
}

TEST(ContainerPath, ReadsStaticPods) {
  const std::string digits(32, '7');
  expect_pod("0::/kubepods/burstable/pod" + digits + "/" + kId + "\n", digits);
  expect_pod(
      "0::/kubepods.slice/kubepods-burstable-pod" + digits + ".slice/crio-" + kId + ".scope\n",
      digits);
}

TEST(ContainerPath, ReadsInnermostContainer) {
  const std::string node = "0::/docker/" + std::string(64, 'b');
  expect_pod(node + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kUidOfSystemd +
             ".slice/cri-containerd-" + kId + ".scope\n");
}

TEST(ContainerPath, ReadsContainersWithoutPods) {
  for (const std::string& cgroup :
       {"0::/docker/" + kId, "0::/system.slice/docker-" + kId + ".scope",
        "0::/machine.slice/libpod-" + kId + ".scope/container", "9:cpu:/docker/" + kId})
    expect_pod(cgroup, "");
}

TEST(ContainerPath, ReadsJobsOfSlurm) {
  EXPECT_EQ(parse_container_path("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n")
                .slurm_job,
            "4711");
  EXPECT_EQ(parse_container_path("5:cpuset:/slurm/uid_1000/job_12/step_batch\n").slurm_job, "12");
}

TEST(ContainerPath, FindsNothingInOtherPaths) {
  for (const std::string& cgroup :
       {std::string(), std::string("0::/\n"), std::string("garbage"), std::string("0:/x"),
        std::string("0::/user.slice/user-1000.slice/session-2.scope\n"),
        std::string("0::/podium/pod/pod-/pod0f1e/job_/job_x/job_1a\n"),
        "0::/docker/" + kId.substr(1), "0::/docker/x" + kId, "0::/pod" + kUid.substr(1)}) {
    const ContainerPath path = parse_container_path(cgroup);
    EXPECT_EQ(path.pod_uid + path.container_id + path.slurm_job, "") << cgroup;
  }
}

TEST(JobIdentity, ReadsNamesOfPod) {
  const test::PretendRoot root;
  root.write("proc/7/cgroup", "0::/kubepods/pod" + kUid + "/" + kId + "\n");
  root.write("proc/7/environ",
             "POD_NAME=train-0\0POD_NAMESPACE=vision\0JOB_NAME=train\0HOSTNAME=other\0X\0"s);
  const JobIdentity identity = read_job_identity(root.path(), 7);
  EXPECT_EQ(identity.path.pod_uid, kUid);
  EXPECT_EQ(identity.pod, "train-0");
  EXPECT_EQ(identity.space, "vision");
  EXPECT_EQ(identity.job_name, "train");
}

TEST(JobIdentity, UsesHostNameOfPod) {
  const test::PretendRoot root;
  root.write("proc/7/cgroup", "0::/kubepods/pod" + kUid + "/" + kId + "\n");
  root.write("proc/7/environ", "HOSTNAME=train-1\0SLURM_JOB_ID=3\0"s);
  const JobIdentity identity = read_job_identity(root.path(), 7);
  EXPECT_EQ(identity.pod, "train-1");
  EXPECT_EQ(identity.path.slurm_job, "3");
}

TEST(JobIdentity, NamesNoPodOutsideOfPods) {
  const test::PretendRoot root;
  root.write("proc/7/cgroup", "0::/user.slice\n");
  root.write("proc/7/environ", "HOSTNAME=desk\0POD_NAME=x\0"s);
  const JobIdentity identity = read_job_identity(root.path(), 7);
  EXPECT_EQ(identity.pod, "");
  EXPECT_EQ(read_job_identity(root.path(), 8).path.container_id, "");
}

}  // namespace
}  // namespace loaderscope
