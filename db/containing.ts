/** The pattern of LIKE for texts that contain `text`, in which no character is a wildcard. */
export const containing = (text: string): string =>
  `%${text.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&")}%`;
