<?php
// Posts an event to each URL with Guzzle, as it comes and as docs/senders/brokers/clients.md sets it.
require 'GuzzleHttp/autoload.php';

use GuzzleHttp\{Client, HandlerStack, Middleware};
use GuzzleHttp\Exception\TransferException;

$configured = HandlerStack::create();
$configured->push(
    Middleware::retry(
        fn($retries, $request, $response) => $retries < 4 &&
            in_array($response?->getStatusCode(), [429, 502, 503, 504]),
        fn($retries, $response) => 1000 * (int) $response?->getHeaderLine('Retry-After'),
    ),
);
$clients = ['plain' => new Client(), 'configured' => new Client(['handler' => $configured])];
$message = ['headers' => json_decode(getenv('HEADERS'), true), 'body' => getenv('EVENT')];
$outcomes = [];
foreach (json_decode(getenv('URLS'), true) as $name => $urls) {
    foreach ($urls as $url) {
        try {
            $clients[$name]->post($url, $message);
            $outcomes[$url] = 'returns';
        } catch (TransferException) {
            $outcomes[$url] = 'fails';
        }
    }
}
echo json_encode($outcomes);
