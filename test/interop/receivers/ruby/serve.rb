require 'json'
require 'sinatra/base'
require 'rack/handler/webrick'

RATES = { 'eventemitter.example.com' => '120' }

# Starts Sinatra as it comes and with the handler, and prints the addresses as one line of JSON.
class Plain < Sinatra::Base
  post('/events') { 204 }
end

class Advised < Sinatra::Base
  options '/events' do
    origin = request.env['HTTP_WEBHOOK_REQUEST_ORIGIN']
    headers 'WebHook-Allowed-Origin' => origin, 'WebHook-Allowed-Rate' => RATES[origin] if RATES.key?(origin)
    204
  end
  post('/events') { 204 }
end

host = "http://127.0.0.1:#{ENV['PORT']}"
apps = Rack::URLMap.new('/plain' => Plain, '/advised' => Advised)
options = { Host: '127.0.0.1', Port: ENV['PORT'].to_i, AccessLog: [], Logger: WEBrick::Log.new($stderr, 1) }
Rack::Handler::WEBrick.run(apps, **options) do
  puts JSON.generate(%w[plain advised].to_h { |name| [name, { 'Sinatra' => "#{host}/#{name}/events" }] })
  $stdout.flush
end
