const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes for people, such as `1.5 GiB`. */
export function sizeText(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  return `${Number((bytes / 1024 ** unit).toFixed(1))} ${UNITS[unit]}`;
}
