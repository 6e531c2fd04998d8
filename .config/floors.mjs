// Which folder of src/ may import which. `npm run lint` holds the imports to it, and allows no circle, of types neither.

/**
 * The folders from top to bottom. A folder imports only from lower floors; folders of one floor don't import each other.
 */
const floors = {
  src: [
    ['main.ts'],
    ['console', 'tools'],
    ['kits'],
    ['registry'],
    ['matching'],
    ['events'],
    ['consent'],
    ['outbound'],
    ['signatures'],
    ['base'],
  ],
  'src/tools': [['cli'], ['conformance', 'egress', 'notify']],
  'src/kits': [['sender'], ['webhook', 'client', 'guard']],
  'src/registry': [
    ['app'],
    ['gateways', 'match', 'overview', 'probes'],
    ['deliveries'],
    ['subscriptions'],
    ['handshake'],
    ['grants'],
    ['changes', 'statistics'],
    ['blocks', 'origins'],
    ['pages'],
    ['http'],
    ['tokens'],
    ['storage'],
    ['context.ts'],
  ],
};

/** What runs in other systems or in a browser imports nothing more of src/ than this. */
const alone = {
  'kits/client': ['consent', 'base'],
  'kits/guard': ['outbound', 'base'],
  'kits/sender': ['kits/client', 'kits/guard', 'matching', 'events', 'consent', 'outbound', 'signatures', 'base'],
  'kits/webhook': ['events', 'consent', 'signatures', 'base'],
  'tools/notify': ['kits', 'matching', 'events', 'consent', 'outbound', 'signatures', 'base'],
  'tools/egress': ['kits', 'matching', 'events', 'consent', 'outbound', 'signatures', 'base'],
  'tools/conformance': ['kits', 'matching', 'events', 'consent', 'outbound', 'signatures', 'base'],
  console: ['kits/client', 'base'],
};

/** The list of what a process shares: it names what every folder has, so that every folder can take its part. */
const typesOnly = 'src/registry/context.ts';

const under = (folder, names) => `^${folder}/(${names.map((name) => name.replace('.', '\\.')).join('|')})(/|$)`;

const rulesOf = ([folder, itsFloors]) => [
  {
    name: `a folder without a floor in ${folder}`,
    from: { path: `^${folder}/`, pathNot: under(folder, itsFloors.flat()) },
    to: {},
  },
  ...itsFloors.flatMap((floor, at) =>
    floor.flatMap((name) => {
      const others = [...itsFloors.slice(0, at).flat(), ...floor.filter((other) => other !== name)];
      if (others.length === 0) return [];
      return {
        name: `${folder}/${name} imports only from floors below it`,
        from: { path: under(folder, [name]), pathNot: typesOnly },
        to: { path: under(folder, others) },
      };
    }),
  ),
];

export default {
  forbidden: [
    { name: 'a circle', from: { pathNot: '/generated/' }, to: { circular: true } },
    {
      name: 'only src/base/tracing.ts imports OpenTelemetry',
      from: { path: '^src/', pathNot: '^src/base/tracing\\.ts$' },
      to: { path: '(^|node_modules/)@opentelemetry/' },
    },
    {
      name: 'no SDK of OpenTelemetry, which is the choice of the operator',
      from: { path: '^src/' },
      to: { path: '(^|node_modules/)@opentelemetry/(?!api(/|$))' },
    },
    { name: `${typesOnly} imports only types`, from: { path: typesOnly }, to: { dependencyTypesNot: ['type-only'] } },
    ...Object.entries(floors).flatMap(rulesOf),
    ...Object.entries(alone).map(([folder, others]) => ({
      name: `src/${folder} imports nothing more of src/`,
      from: { path: under('src', [folder]) },
      to: { path: '^src/', pathNot: under('src', [folder, ...others]) },
    })),
  ].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    // Types count as well.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
