/** The address below which a host serves git: every remote of its projects begins with it. */
export const gatewayUrl = (hostUrl: string): string => `${hostUrl}/git`;

/**
 * A project's remote. It is made from the address by which this machine knows the host, so that it works through a
 * tunnel too; the server's own idea of its address (`git_url`) may be another.
 */
export const remoteUrl = (hostUrl: string, projectId: string): string =>
  `${gatewayUrl(hostUrl)}/${projectId}.git`;

/** The project whose remote an address is, if it is one of this host. */
export function projectIdOf(hostUrl: string, url: string): string | undefined {
  const id = /\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.git$/.exec(url)?.[1];
  return id !== undefined && remoteUrl(hostUrl, id) === url ? id : undefined;
}
