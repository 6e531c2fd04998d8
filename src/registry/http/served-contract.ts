import {
  methods,
  type OpenApiDocument,
  type OperationObject,
  type SecurityRequirement,
  type SecurityScheme,
} from '../../base/contract/document.js';

interface Operator {
  operator?: string | undefined;
  /** A mail address, a URL, or both in one text. */
  contact?: string | undefined;
  /** The URLs of the issuers that this registry trusts. */
  issuers: readonly string[];
  /** The path of its public URL. */
  path?: string;
  /** Whether the registry issues tokens itself. It has no endpoint for that. */
  developmentIssuer: boolean;
}

/** The contract as one registry serves it: with its operator, where it is, and where its tokens come from. */
export function servedContract(document: OpenApiDocument, operator: Operator): OpenApiDocument {
  const { path: root = '' } = operator;
  const schemes = schemesOf(document, operator);
  const names = Object.keys(schemes);
  const security = (requirements: readonly SecurityRequirement[]) =>
    requirements.flatMap((requirement) => names.map((name) => ({ [name]: requirement.oauth ?? [] })));
  const secured = (operation: OperationObject) =>
    operation.security === undefined ? operation : { ...operation, security: security(operation.security) };
  const at = (servers: OpenApiDocument['servers']) => servers.map((each) => ({ ...each, url: root + each.url }));
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const own = methods.flatMap((method) => (item[method] ? [[method, secured(item[method])] as const] : []));
    return [path, { ...item, ...(item.servers && { servers: at(item.servers) }), ...Object.fromEntries(own) }] as const;
  });
  const contact = contactOf(operator);
  return {
    ...document,
    info: { ...document.info, ...(contact && { contact }) },
    servers: at(document.servers),
    ...(document.security && { security: security(document.security) }),
    paths: Object.fromEntries(paths),
    components: { ...document.components, securitySchemes: schemes },
  };
}

/** `oauth` is the first one, so that a client that was generated with another registry's contract has its name, too. */
function schemesOf({ components }: OpenApiDocument, { issuers, developmentIssuer }: Operator) {
  const { oauth } = components.securitySchemes;
  const own = issuers.map((issuer): SecurityScheme => {
    // OpenID Connect Discovery 1.0, section 4.
    const metadata = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    return /^https?:/.test(issuer) && URL.canParse(metadata)
      ? { type: 'openIdConnect', openIdConnectUrl: metadata, description: oauth.description }
      : oauth;
  });
  const all = developmentIssuer || own.length === 0 ? [...own, oauth] : own;
  const named = all.map((scheme, at) => [at === 0 ? 'oauth' : `oauth${at + 1}`, scheme] as const);
  return { oauth, ...Object.fromEntries(named) };
}

/** Without an address there is no contact: a placeholder would look like one. */
function contactOf({
  operator: name = 'The operator of this registry',
  contact,
}: Operator): OpenApiDocument['info']['contact'] {
  if (contact === undefined) return undefined;
  const [email] = /[^\s<>()@:]+@[^\s<>()@]+/.exec(contact) ?? [];
  const url = contact.split(/[\s<>()]+/).find((word) => /^https?:/.test(word) && URL.canParse(word));
  if (email === undefined && url === undefined) return undefined;
  return { name, ...(email && { email }), ...(url && { url }) };
}
