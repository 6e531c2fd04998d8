/**
 * Last labels that do not exist in public DNS. No list of top-level domains is needed: each of these is reserved, or is what
 * networks, clusters and tools use inside, and is not delegated.
 */
export const internalEndings: ReadonlySet<string> = new Set([
  // Special-use names (IANA): RFC 6761, 6762 and 8375. ICANN reserved "internal" for private use.
  'arpa',
  'internal',
  'local',
  'localhost',
  // RFC 6762, appendix G, and those that ICANN does not delegate because private networks use them.
  'corp',
  'home',
  'intranet',
  'lan',
  'mail',
  'private',
  // Routers, offices and directories.
  'dhcp',
  'domain',
  'gateway',
  'intern',
  'intra',
  'ipa',
  'localdomain',
  'localnet',
  'priv',
  'router',
  'workgroup',
  // Clusters and service discovery: Kubernetes, Consul, Nomad, Mesos, Docker, Podman, LXD.
  'cluster',
  'consul',
  'docker',
  'incus',
  'k8s',
  'kube',
  'lxd',
  'mesos',
  'nomad',
  'pod',
  'podman',
  'svc',
  'swarm',
  // Machines: OpenStack, MAAS, Vagrant.
  'maas',
  'novalocal',
  'openstacklocal',
  'vagrant',
]);

export const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
