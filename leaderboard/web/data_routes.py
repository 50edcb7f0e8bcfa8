"""Join the routers of all files: tables, charts, results, requests, feeds and pictures."""

from fastapi import APIRouter

from leaderboard.data.live_board import LiveBoard
from leaderboard.web.picture_routes import picture_routes
from leaderboard.web.record_routes import record_routes
from leaderboard.web.request_routes import request_routes
from leaderboard.web.table_routes import table_routes


def data_routes(board: LiveBoard) -> list[APIRouter]:
    return [request_routes(board), table_routes(board), record_routes(board), picture_routes(board)]
