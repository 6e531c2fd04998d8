<?php
$rates = ['eventemitter.example.com' => '120'];
$origin = $_SERVER['HTTP_WEBHOOK_REQUEST_ORIGIN'] ?? '';
if ($_SERVER['REQUEST_METHOD'] === 'OPTIONS' && isset($rates[$origin])) {
    header("WebHook-Allowed-Origin: $origin");
    header("WebHook-Allowed-Rate: $rates[$origin]");
}
http_response_code(204);
