/**
 * Entity tags of versions without what proxies that compress make of them: nginx and HAProxy make `W/"3"` of `"3"`, Apache
 * makes `"3-gzip"`. The tag is the number of a version, and a compressed version is the same one. Other tags stay.
 */
export function versionsIn(tags: string): string {
  return tags.replace(/(^|[,\s])(?:W\/)?("\d+)(?:-[a-z]+)?"/g, '$1$2"');
}
