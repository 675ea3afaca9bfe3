// Why no TLS stands between this program and a server, by the code of the failure, in words that
// say what to do. One rule for the database, the queue and the gateway; who says it names the
// server.

/** Of Node and of its library's check of a certificate. */
const OF_TLS =
  /CERT|CRL_|SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^INVALID_(CA|PURPOSE)$|PATH_LENGTH|TLS|SSL/;

/** Null: the code tells of something else. `who`: the server, as the sentence calls it. */
export function tlsProblem(code: string, who: string): string | null {
  if (!OF_TLS.test(code)) return null;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `${who}'s certificate has expired: a new one has to be installed there`;
    case 'CERT_NOT_YET_VALID':
      return `${who}'s certificate is not valid yet: is a clock wrong, here or there?`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${who}'s certificate is made out to another name (${code})`;
  }
  return /^ERR_(SSL|TLS)/.test(code)
    ? `${who} speaks no TLS at this address, or another version of it (${code})`
    : `${who}'s certificate is not trusted (${code})`;
}
