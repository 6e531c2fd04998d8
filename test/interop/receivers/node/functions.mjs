import { once } from 'node:events';
import { createServer } from 'node:http';
import Module from 'node:module';
import { buffer } from 'node:stream/consumers';

/**
 * Serves functions as clouds do, each on a port of its own, and prints the addresses as one line of JSON. The argument is
 * JSON: the cloud of each folder, whose server.js is the function.
 */
const clouds = { 'lambda 1.0': lambda(restEvent), 'lambda 2.0': lambda(httpEvent), azure, google };
const addresses = {};
for (const [folder, cloud] of Object.entries(JSON.parse(process.argv[2]))) {
  const listener = await clouds[cloud](() => import(`./${folder}/server.js`));
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  addresses[folder] = `http://127.0.0.1:${server.address().port}/events`;
}
console.log(JSON.stringify(addresses));

/** API Gateway, in the form of the event that it makes of a request. */
function lambda(eventOf) {
  return async (load) => {
    const { handler } = await load();
    return async (request, response) => {
      const event = eventOf(request, new URL(request.url, 'http://localhost'), await buffer(request));
      // Both are JSON on their way.
      const returned = copyOf(await handler(copyOf(event), { awsRequestId: '1' }));
      const { statusCode, headers, multiValueHeaders, body = '', isBase64Encoded } = returned;
      const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
      response.writeHead(statusCode, { ...headers, ...multiValueHeaders }).end(bytes);
    };
  };
}

const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** Payload format 1.0: of several lines of a header, `headers` has the last. */
function restEvent({ method, headersDistinct }, { pathname, searchParams }, body) {
  const valuesOf = (name) => searchParams.getAll(name);
  const query = [...searchParams.keys()];
  return {
    resource: '/{proxy+}',
    path: pathname,
    httpMethod: method,
    headers: Object.fromEntries(Object.entries(headersDistinct).map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: headersDistinct,
    queryStringParameters: query.length > 0 ? Object.fromEntries(searchParams) : null,
    multiValueQueryStringParameters:
      query.length > 0 ? Object.fromEntries(query.map((name) => [name, valuesOf(name)])) : null,
    pathParameters: { proxy: pathname.slice(1) },
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'id',
      httpMethod: method,
      identity: { sourceIp: '192.0.2.1', userAgent: 'agent' },
      path: `/prod${pathname}`,
      protocol: 'HTTP/1.1',
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      resourcePath: '/{proxy+}',
      stage: 'prod',
    },
    // A text, unless the API lists media types that are binary.
    body: body.length > 0 ? body.toString() : null,
    isBase64Encoded: false,
  };
}

/** Payload format 2.0, of HTTP APIs and function URLs. What is no text comes in Base64, and a CloudEvent is none to them. */
function httpEvent({ method, headersDistinct }, { pathname, search, searchParams }, body) {
  const headers = joined(headersDistinct, ',');
  const isText = /^(?:text\/|application\/(?:json|javascript|xml)\b)/.test(headers['content-type'] ?? '');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    ...(search && { queryStringParameters: Object.fromEntries(searchParams) }),
    requestContext: {
      accountId: '123456789012',
      apiId: 'id',
      domainName: 'id.execute-api.eu-west-1.amazonaws.com',
      http: { method, path: pathname, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: '$default',
      stage: '$default',
      timeEpoch: 1583348638390,
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

const joined = (headersDistinct, separator) =>
  Object.fromEntries(Object.entries(headersDistinct).map(([name, values]) => [name, values.join(separator)]));

/**
 * The host of Azure and its worker are in no registry of packages. This is what they give the library: the module
 * `@azure/functions-core`, and data of a request. The library makes of it what the function gets, and data of the response.
 */
async function azure(load) {
  let model;
  let callback;
  let metadata;
  const core = {
    setProgrammingModel: (each) => (model = each),
    registerFunction: (...registered) => ([metadata, callback] = registered),
  };
  const usual = Module._load;
  Module._load = (name, ...more) => (name === '@azure/functions-core' ? core : usual(name, ...more));
  await load();
  Module._load = usual;
  const [name, { methods }] = Object.entries(metadata.bindings).find(([, { type }]) => type === 'httpTrigger');
  return async (request, response) => {
    const { method, headersDistinct } = request;
    const body = { bytes: await buffer(request) };
    if (!methods.includes(method)) return response.writeHead(404).end();
    const url = new URL(request.url, 'http://localhost').href;
    const http = { method, url, headers: joined(headersDistinct, ','), query: {}, params: {}, body };
    const inputData = [{ name, data: { http } }];
    const invocation = model.getInvocationModel({
      invocationId: '1',
      metadata,
      log: () => undefined,
      request: { inputData, triggerMetadata: {} },
    });
    const { context, inputs } = await invocation.getArguments();
    const result = await invocation.invokeFunction(context, inputs, callback);
    const { returnValue } = await invocation.getResponse(context, result);
    const { statusCode, headers, body: returned } = returnValue.http;
    response.writeHead(Number(statusCode), headers).end(returned?.bytes);
  };
}

/** Its own server. */
async function google(load) {
  const { getTestServer } = await import('@google-cloud/functions-framework/testing');
  await load();
  return getTestServer('events').listeners('request')[0];
}
